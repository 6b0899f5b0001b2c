import { approval } from './approval.ts'
import { rate } from './rate.ts'
import { readBeforeWrite } from './read-before-write.ts'
import { sequence } from './sequence.ts'

export { guard } from './guard.ts'

/** The guards that come with the house. */
export const guards = { sequence, readBeforeWrite, rate, approval } as const
