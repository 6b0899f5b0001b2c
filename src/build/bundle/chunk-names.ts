/** The chunk that starts a program. */
export const START = './start.js'
/** The chunk that is zod itself, where records stand in its place. */
export const ZOD = './zod.js'
