import type { Finding } from './finding.ts'
import { walkSteps } from './walk-steps.ts'
import type { Workflow } from './workflow-type.ts'

/** The inputs that cannot fit the workflows inside a workflow, so that nobody finds out in the middle of it. */
export async function checkNested(workflow: Workflow): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  for (const walked of walkSteps(workflow)) {
    const { step } = walked
    if (step.type !== 'workflow' || step.workflow.input === undefined) continue
    const { checkStepInput } = await import('./check-step-input.ts')
    findings.push(
      ...(await checkStepInput(
        walked,
        step.input === undefined ? {} : step.input,
        step.workflow.input,
        step.workflow.name,
      )),
    )
  }
  return findings
}
