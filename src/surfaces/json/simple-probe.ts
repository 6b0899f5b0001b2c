/** The argument by which Simple JSON tools are found, byte for byte. */
export const SIMPLE_PROBE = '{"__test__": true}'

/** What such a tool answers. */
export const SIMPLE_ANSWER = { success: true, _simple: true } as const
