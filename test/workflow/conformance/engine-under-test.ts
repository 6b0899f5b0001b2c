import type { Workflow } from '../../../src/workflow/definition/model.ts'
import type { Project } from '../support.ts'

/** How an execution ended, without what is never the same twice. */
export type Ending = {
  readonly state: string
  readonly result?: unknown
  readonly code?: string
  readonly step?: unknown
}

/** An engine, with all that can happen to it. The suite knows nothing else of it. */
export type EngineUnderTest = {
  readonly project: Project
  /** Places in which what performs steps can be made to die. */
  readonly crashPoints: readonly string[]
  /** Begins an execution; `crashAt` names the place in which what performs it dies. */
  start(definition: Workflow, options?: { readonly crashAt?: string }): Promise<string>
  /** The questions that are open. */
  questions(id: string): Promise<readonly string[]>
  answer(id: string, question: string, value: unknown): Promise<void>
  cancel(id: string): Promise<void>
  /** SIGKILL of what performs the steps; it is gone, with its tools, when it resolves. */
  kill(id: string): Promise<void>
  /** Resolves when it died by itself. */
  died(id: string): Promise<void>
  /** Brings back what was killed. */
  revive(id: string): Promise<void>
  /** SIGKILL of the server, where there is one, and its return. */
  readonly killServer?: () => Promise<void>
  /** The paths of the steps whose end is on record. */
  recorded(id: string): Promise<readonly string[]>
  /** Whether it came to its end. */
  isOver(id: string): Promise<boolean>
  outcome(id: string): Promise<Ending>
  /** Whatever helps to see what went wrong. */
  describe(id: string): Promise<string>
  close(): Promise<void>
}

/** The same ending, whichever execution it is of. */
export function comparable<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value).replaceAll(/r-[0-9a-f]{10}/g, 'r-id')) as Value
}
