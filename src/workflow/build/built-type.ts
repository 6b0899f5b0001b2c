import type { Duration } from '../../contract/duration.ts'
import type { LazySchema } from '../../define/schema/schema.ts'
import type { Workflow } from '../definition/workflow-type.ts'

declare const types: unique symbol

/** A workflow that was written in TypeScript. It is data: what `definition()` gives can be kept, sent, and written down as YAML. */
export type BuiltWorkflow<Input = unknown, Result = unknown> = {
  readonly name: string
  readonly summary?: string
  /** The workflow as data, every short form written out. Throws CONFIG, with the place, for what cannot work. */
  definition(): Promise<Workflow>
  readonly [types]?: { readonly input: Input; readonly result: Result }
}

/** A workflow as data, with every short form that a file may have. */
export type WorkflowData = { readonly steps: readonly unknown[]; readonly [key: string]: unknown }

/** What is said about a workflow besides its steps. */
export type BuiltWorkflowOptions<Input extends LazySchema | undefined = LazySchema | undefined> = {
  /** 1 to 64 characters of `a-z 0-9 _ -`. */
  readonly name: string
  readonly version?: string
  /** One line of 1 to 200 characters. */
  readonly summary?: string
  readonly description?: string
  /** As `tool()` takes it; it travels as JSON Schema, so that what only code can check is not checked. Absent: any object. */
  readonly input?: Input
  /** Longest time for the whole of it. */
  readonly timeout?: Duration
}
