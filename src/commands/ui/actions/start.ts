import type { JsonObject } from '../../../contract/json.ts'
import type { Registry } from '../../../registry/registry-type.ts'
import { createRun } from '../../../runner/folder/create-run.ts'
import { givenOf } from '../../../runner/given-of.ts'
import type { Given, RunOptions } from '../../../runner/make-request.ts'
import type { Started } from '../../../views/model/wire/others.ts'
import { checkTools } from '../../../workflow/definition/check-tools.ts'
import { problemsError } from '../../../workflow/definition/finding.ts'
import type { Workflow } from '../../../workflow/definition/workflow-type.ts'
import { dryRunWayOf, inManner, noDryRun, requireConsent } from '../../run/consent.ts'
import type { Manner } from '../../run/consent.ts'
import { handToSupervisor } from '../../run/hand-over.ts'
import { makeRun } from '../../run/make-run.ts'
import type { Project } from '../project.ts'
import { findInputProblem } from './check-input.ts'
import type { FreshTool } from './find-tool.ts'

/** Who starts what is started here, for the record. */
export const DASHBOARD = 'dashboard'

/** A run that is asked for: by an input, or by what a program got before. */
export type Asked = {
  readonly given: { readonly input: JsonObject } | Given
  readonly manner: Manner
  readonly options: RunOptions
}

/** Starts a run that outlives the dashboard. What is wrong with it is told before anything is on record: INVALID_INPUT, MISSING_PARAM, CONFIRMATION_REQUIRED, PRECONDITION for a dry run of a tool that has none, CONFIG for a workflow that cannot work. */
export async function startTool(
  tool: FreshTool,
  { given, manner, options }: Asked,
  project: Project,
): Promise<Started> {
  const { registry, entry, program, workflow } = tool
  const told = 'args' in given ? given : await readInput(tool, given.input, manner, project)
  requireConsent(
    { name: entry.name, destructive: entry.definition.facts.annotations.destructive === true },
    manner,
  )
  if (workflow) await requireTools(workflow.workflow, registry)
  const made = await makeRun(
    {
      entry,
      program,
      given: await inManner(told, entry, program, manner),
      options: { ...options, caller: DASHBOARD },
      dryRun: manner.dryRun,
      workflow,
    },
    project,
  )
  return begin(made.request, project)
}

/** Refuses a workflow whose tools are not there, or cannot fit. Throws CONFIG with every problem. */
export async function requireTools(workflow: Workflow, registry: Registry): Promise<void> {
  const { problems, found } = await checkTools(workflow, registry)
  if (problems.length > 0) throw problemsError(problems, found)
}

/** Puts a request on record and gives it to a process of its own. */
export async function begin(
  request: Parameters<typeof handToSupervisor>[1],
  project: Project,
): Promise<Started> {
  const paths = createRun(project.runsFolder, request)
  await handToSupervisor(paths, request, project)
  return { run_id: request.run_id }
}

async function readInput(
  tool: FreshTool,
  given: JsonObject,
  { dryRun }: Manner,
  project: Project,
): Promise<Given> {
  const { entry, program } = tool
  const way = dryRun ? await dryRunWayOf(entry, program) : undefined
  if (dryRun && !way) throw noDryRun(entry)
  const input = way?.by === 'field' ? { ...given, [way.field]: true } : given
  const problem = await findInputProblem(tool, input, project)
  if (problem) throw problem
  // The arguments are what counts; the input is kept for whoever changes it and starts anew.
  return { ...givenOf({ input }, program?.call), input }
}
