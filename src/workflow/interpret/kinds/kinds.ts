import type { Step, StepType } from '../../definition/workflow-type.ts'
import type { StepKind } from '../frame.ts'
import { decision } from './decision.ts'
import { each } from './each.ts'
import { nested } from './nested.ts'
import { parallel } from './parallel.ts'
import { tool } from './tool.ts'
import { wait } from './wait.ts'

/** Every kind of step, by the word that names it. */
export const KINDS: { readonly [Type in StepType]: StepKind<Step & { readonly type: Type }> } = {
  tool,
  ai_decision: decision,
  parallel,
  each,
  wait,
  workflow: nested,
}
