import type { Entry } from '../../registry/entry.ts'
import type { FoundProgram } from '../../registry/found.ts'
import type { StepCall, StepHost } from './step-host.ts'

/** A program that is the tool of a step. */
export type ChildStep = { readonly host: StepHost; readonly call: StepCall; readonly entry: Entry; readonly program: FoundProgram; readonly signal: AbortSignal }
