/** Marks a schema whose JSON form is text or a number, and whose value in the program is something else. Never published. */
export const DECODE_MARK = 'x-toolable-decode'
