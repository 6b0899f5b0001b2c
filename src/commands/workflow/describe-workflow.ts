/**
 * Finds workflows by path or name; `toolable workflow validate`, `plan` and `graph`, and the plan
 * that `workflow run --dry-run` prints.
 */

import { statSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import type { ResultRenderer } from '../../cli/formats/envelope.ts'
import { cleanLine } from '../../cli/formats/terminal-text.ts'
import { createDialectContext, printOutcome } from '../../cli/output.ts'
import type { BuiltinContext } from '../../cli/types.ts'
import { compileSchema } from '../../define/schema/compile.ts'
import { issuesToError } from '../../define/schema/issues.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { Registry } from '../../registry/types.ts'
import { listNames } from '../../util/files.ts'
import { describeUnknownName } from '../../util/text.ts'
import { loadWorkflow } from '../../workflow/definition/load.ts'
import type { Workflow } from '../../workflow/definition/model.ts'
import { createProblemsError } from '../../workflow/definition/reader.ts'
import { listToolNames, walkSteps } from '../../workflow/definition/walk.ts'
import type { WorkflowPlan } from '../../workflow/plan.ts'
import { createPlan, formatPlan, toMermaid } from '../../workflow/plan.ts'
import { hashWorkflow } from '../../workflow/request.ts'
import type { RegistryOptions, WorkflowsOptions } from '../../workflow/workflow-types.ts'
import type { CommandContext } from '../command.ts'
import { getPresentation } from '../command.ts'
import type { RegistryFlags } from '../config.ts'
import { findConfigFile, readConfig, withRegistry } from '../config.ts'

/** A workflow that can be run, as far as can be known. */
export type ValidatedWorkflow = {
  readonly file: string
  readonly name: string
  readonly hash: string
  readonly steps: number
  readonly tools: readonly string[]
  /** Whether the tools were looked for. */
  readonly tools_checked: boolean
}

/** Checks a workflow; throws CONFIG with every problem. */
export async function validateWorkflow(
  {
    workflow: given,
    tools,
    ...surroundings
  }: RegistryFlags & { readonly workflow: string; readonly tools: boolean },
  where: CommandContext,
): Promise<ValidatedWorkflow> {
  const file = await findWorkflowFile(given, { cwd: where.cwd, config: surroundings.config })
  const workflow = await loadWorkflow(file, where)
  if (tools) await withRegistry(surroundings, where, (registry) => requireTools(workflow, registry))
  return {
    file,
    name: workflow.name,
    hash: hashWorkflow(workflow),
    steps: [...walkSteps(workflow)].length,
    tools: listToolNames(workflow),
    tools_checked: tools,
  }
}

/** Refuses a workflow whose tools are missing or do not fit. Throws CONFIG with every problem. */
export async function requireTools(workflow: Workflow, registry: Registry): Promise<void> {
  const { checkTools } = await import('../../workflow/definition/checks.ts')
  const { problems, found } = await checkTools(workflow, registry)
  if (found > 0) throw createProblemsError(problems, found)
}

/** For a person: that it is good, and what it is made of. */
export const renderValidated: ResultRenderer = (result) => {
  const { file, name, steps, tools, tools_checked: checked } = result as ValidatedWorkflow
  const count = (number: number, noun: string): string =>
    number === 1 ? `one ${noun}` : `${number} ${noun}s`
  const list = `(${tools.join(', ')})${checked ? '' : ', not looked for'}`
  const named = tools.length === 0 ? 'no tools' : `${count(tools.length, 'tool')} ${list}`
  return `ok: ${cleanLine(name)} in ${cleanLine(file)}: ${count(steps, 'step')}, ${cleanLine(named)}\n`
}

type WorkflowInput = { readonly workflow: string; readonly config?: string }

/**
 * The plan of a workflow; throws CONFIG for one that is wrong, INVALID_INPUT for an input that does
 * not fit it.
 */
export async function planWorkflow(
  { input, ...wanted }: WorkflowInput & { readonly input?: object },
  where: CommandContext,
): Promise<WorkflowPlan> {
  const workflow = await findAndLoadWorkflow(wanted, where)
  return input === undefined ? createPlan(workflow) : planWithInput(workflow, input)
}

async function findAndLoadWorkflow(
  { workflow, config }: WorkflowInput,
  { cwd }: CommandContext,
): Promise<Workflow> {
  return loadWorkflow(await findWorkflowFile(workflow, { cwd, config }), { cwd })
}

async function planWithInput(workflow: Workflow, input: object): Promise<WorkflowPlan> {
  const { input: schema } = workflow
  if (schema === undefined) return createPlan(workflow, input)
  const checked = await compileSchema(schema, 'input').check(input)
  if (!checked.ok) throw issuesToError(checked.issues, { input })
  return createPlan(workflow, checked.value)
}

/** The plan for a person. */
export const renderWorkflowPlan: ResultRenderer = (result) => formatPlan(result as WorkflowPlan)

/**
 * Answers a dry run of a workflow: with what `workflow plan` says of it and its input. Gives the
 * exit status.
 */
export async function printDryRunPlan(
  workflow: Workflow,
  input: object,
  context: BuiltinContext,
): Promise<number> {
  const { io, globals, set } = context
  const began = io.now()
  const result = await planWithInput(workflow, input)
  const meta = {
    tool: `${set.name}.workflow_run`,
    version: set.version,
    duration_ms: io.now() - began,
    dry_run: true as const,
  }
  await printOutcome(
    { ok: true, status: 'success', result, meta },
    {
      io,
      presentation: getPresentation(context),
      context: createDialectContext(io, 'workflow_run'),
      streamed: false,
      quiet: globals.quiet === true,
      renderResult: renderWorkflowPlan,
    },
  )
  return 0
}

type WorkflowChart = { readonly name: string; readonly mermaid: string }

/** The chart of a workflow; throws CONFIG for one that is wrong. */
export async function graphWorkflow(
  wanted: WorkflowInput,
  where: CommandContext,
): Promise<WorkflowChart> {
  const workflow = await findAndLoadWorkflow(wanted, where)
  return { name: workflow.name, mermaid: toMermaid(workflow) }
}

/** The chart alone. */
export const renderGraph: ResultRenderer = (result) => (result as WorkflowChart).mermaid

/**
 * Where workflows lie that are called by their names: beside toolable.yaml, else in the directory
 * of the caller.
 */
const WORKFLOW_FOLDER = 'workflows'

/** Ends the name of a file that holds a workflow as data. */
export const DATA_FILE_PATTERN = /(\.workflow)?\.(ya?ml|json)$/i
// Code has to be named: it is not run because it lies in a folder.
const CODE_FILE_PATTERN = /(\.workflow)?\.[cm]?[jt]s$/i

/**
 * The file of a workflow: a path, or the name of one that the configuration lists or that lies in
 * the folder `workflows`. Throws INVALID_PATH for a path that leads nowhere and NOT_FOUND for an
 * unknown name.
 */
export async function findWorkflowFile(
  given: string,
  { cwd, config }: { readonly cwd: string; readonly config?: string | undefined },
): Promise<string> {
  if (statSync(resolve(cwd, given), { throwIfNoEntry: false })?.isFile()) return given
  if (DATA_FILE_PATTERN.test(given) || CODE_FILE_PATTERN.test(given) || /[/\\]/.test(given))
    throw new ToolError('INVALID_PATH', `workflow: there is no file '${given}'`, {
      field: 'workflow',
      suggestion: 'Give a file that exists, or the name of a workflow in the folder workflows',
    })
  const found = await listWorkflowFiles(cwd, config)
  const names = found.map(({ name }) => name)
  const file =
    found.find(({ name }) => name === given) ?? (await findByWorkflowName(given, found, cwd))
  if (file) return relative(cwd, file.path)
  throw new ToolError('NOT_FOUND', describeUnknownName('workflow', given, names).message, {
    field: 'workflow',
    suggestion:
      names.length === 0
        ? `Give a file, or put ${given}.yaml into the folder ${WORKFLOW_FOLDER}`
        : `The workflows here are ${names.join(', ')}`,
  })
}

// A workflow whose name differs from that of its file is listed by its own name.
async function findByWorkflowName(
  given: string,
  files: readonly ListedWorkflowFile[],
  cwd: string,
): Promise<ListedWorkflowFile | undefined> {
  for (const file of files) {
    const workflow = await loadWorkflow(file.path, { cwd }).catch(() => undefined)
    if (workflow?.name === given) return file
  }
  return undefined
}

type ListedWorkflowFile = { readonly name: string; readonly path: string }

/**
 * The files that the configuration lists, and those in the folder `workflows`, by the names that
 * they are called by.
 */
async function listWorkflowFiles(
  cwd: string,
  config: string | undefined,
): Promise<readonly ListedWorkflowFile[]> {
  const configuration = findConfigFile(cwd, config)
  const project = configuration === undefined ? cwd : dirname(configuration)
  const { workflows = [] }: RegistryOptions =
    configuration === undefined ? {} : await readConfig(configuration)
  const listed = workflows.map((item) =>
    resolve(project, typeof item === 'string' ? item : (item as WorkflowsOptions).path),
  )
  const files = [...listed, join(project, WORKFLOW_FOLDER)].flatMap((path) =>
    DATA_FILE_PATTERN.test(path) || CODE_FILE_PATTERN.test(path) ? [path] : listFolder(path),
  )
  return [...new Set(files)].map((path) => ({
    name: basename(path).replace(DATA_FILE_PATTERN, '').replace(CODE_FILE_PATTERN, ''),
    path,
  }))
}

function listFolder(folder: string): readonly string[] {
  return listNames(folder)
    .filter((file) => DATA_FILE_PATTERN.test(file) && !file.startsWith('.'))
    .sort()
    .map((file) => join(folder, file))
}
