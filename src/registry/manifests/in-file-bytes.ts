/** How much of a file is read to find its manifest. */
export const IN_FILE_BYTES = 16 * 1024
