/** Of the service and of `info.version`. */
export const VERSION = '1.0.0';
