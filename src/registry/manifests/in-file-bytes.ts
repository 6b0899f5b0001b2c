/** How much of a file is read to find its manifest. */
export const IN_FILE_BYTES = 16 * 1024
/** How much is read where a manifest begins in it and does not end: built programs carry all their tools. */
export const LONGEST_IN_FILE_BYTES = 1024 * 1024
