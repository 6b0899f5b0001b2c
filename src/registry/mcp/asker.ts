import type { ReadingContext } from '../../contract/context.ts'

/** What a call that runs can do for its server: ask, complete, tell folders, take logs. */
export type Asker = Pick<ReadingContext, 'ask' | 'sample' | 'roots' | 'log' | 'signal'>
