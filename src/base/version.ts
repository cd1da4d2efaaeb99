/** Of the package; a test holds it to package.json, which a Worker does not have. */
export const VERSION = '0.1.0';
