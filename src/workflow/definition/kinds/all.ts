import { readEach, readEachWrittenOut, readParallel } from './compound.ts'
import { readDecision } from './decision.ts'
import type { ReadKind } from './kind.ts'
import { readNested } from './nested.ts'
import { readCommand, readTool } from './tool.ts'
import { readWait, waitBy } from './wait.ts'

/** How each form of a step is read, by the key that marks it. */
export const READERS: { readonly [mark: string]: ReadKind } = {
  command: readCommand,
  tool: readTool,
  decision_type: readDecision,
  tasks: readParallel,
  each: readEach,
  items: readEachWrittenOut,
  wait: readWait,
  for: waitBy('for'),
  until: waitBy('until'),
  answer: waitBy('answer'),
  workflow: readNested,
}
