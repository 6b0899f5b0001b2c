import type { Step } from '../definition/workflow-type.ts'
import { describeSeconds } from './seconds.ts'

/** A step in a few words, for a box. */
export function labelOf(step: Step): string {
  switch (step.type) {
    case 'tool':
      return `${step.name}: ${'command' in step ? step.command : step.tool}`
    case 'ai_decision':
      return `${step.name}: ${step.decision_type}?`
    case 'parallel':
      return `${step.name}: ${step.max_concurrency} at the same time`
    case 'each':
      return `${step.name}: each ${step.as}, ${step.max_concurrency} at the same time`
    case 'workflow':
      return `${step.name}: workflow ${step.workflow.name}`
    case 'wait':
      if ('answer' in step) return `${step.name}: ${step.answer.prompt}`
      return 'until' in step
        ? `${step.name}: until ${step.until}`
        : `${step.name}: wait ${typeof step.for === 'number' ? describeSeconds(step.for) : step.for}`
  }
}
