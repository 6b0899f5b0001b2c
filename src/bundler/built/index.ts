/** What a built program has in it besides its own modules. */
export { startEntry, startFunctions } from './start-entry.ts'
export { recordZod } from './zod-records.ts'
