import { checkNested } from './check-nested.ts'
import { draftWorkflow } from './draft-workflow.ts'
import type { Finding } from './finding.ts'
import { locateFindings, MOST_PROBLEMS, problemOf, problemsError } from './finding.ts'
import type { Workflow } from './workflow-type.ts'

/** What a definition made in this process may leave open. */
export type NormaliseOptions = {
  /** Its name where it says none; default `workflow`. */ readonly name?: string
}

/** Makes a workflow of data: every short form written out, everything checked that can be checked without tools. Throws CONFIG with all problems. What it gives goes through unchanged. */
export function normaliseWorkflow(
  value: unknown,
  { name = 'workflow' }: NormaliseOptions = {},
): Workflow {
  const findings: Finding[] = []
  const workflow = draftWorkflow(
    { value, source: {}, name },
    {
      findings,
      counted: { steps: 0 },
      nested: () =>
        'a file can be named only in a file: loadWorkflow reads it; give the workflow itself here',
    },
  )
  if (!workflow || findings.length > 0)
    throw problemsError(findings.slice(0, MOST_PROBLEMS).map(problemOf), findings.length)
  return workflow
}

/** Like `normaliseWorkflow`, with the inputs of the workflows inside it checked too. */
export async function normaliseWhole(value: unknown): Promise<Workflow> {
  const workflow = normaliseWorkflow(value)
  const { findDefaultFaults } = await import('./find-default-faults.ts')
  const findings = [...(await checkNested(workflow)), ...(await findDefaultFaults(workflow))]
  if (findings.length > 0) throw problemsError(await locateFindings(findings), findings.length)
  return workflow
}
