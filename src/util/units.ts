/** Bytes and milliseconds by name. */

export const KIBIBYTE = 1024
export const MEBIBYTE = 1024 * KIBIBYTE
export const GIBIBYTE = 1024 * MEBIBYTE

export const SECOND_MS = 1000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** The longest timer Node can set. */
export const MAX_TIMER_MS = 2 ** 31 - 1
