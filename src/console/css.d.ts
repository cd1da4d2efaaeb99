/** Stylesheets are imported for what they do; Vite takes them along. */
declare module '*.css' {}
