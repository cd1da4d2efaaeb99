/** What importing a `.wasm` file gives in the Worker: the module, compiled when the Worker was loaded. */
declare module '*.wasm' {
  const module: WebAssembly.Module;
  export { module as default };
}
