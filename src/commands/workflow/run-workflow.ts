/**
 * `toolable workflow run`: reads the input and hands the workflow to an engine. ENGINES is the
 * table of engines.
 */

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { readStdinText } from '../../cli/input.ts'
import type { BuiltinContext } from '../../cli/types.ts'
import { coerceText } from '../../define/flag-input.ts'
import type { Io } from '../../protocol/io.ts'
import { toMilliseconds } from '../../protocol/limits.ts'
import { parseJsonInput } from '../../protocol/parse-json.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { describeUnknownName } from '../../util/text.ts'
import type { JsonObject } from '../../util/values.ts'
import { compact, isObject } from '../../util/values.ts'
import { loadWorkflow } from '../../workflow/definition/load.ts'
import type { Workflow } from '../../workflow/definition/model.ts'
import { checkWorkflowInput } from '../../workflow/scheduler.ts'
import { chooseProgress } from '../command.ts'
import type { RegistryFlags } from '../config.ts'
import { pickRegistryFlags } from '../config.ts'
import { parseAnswers } from '../run/create-run.ts'
import { findWorkflowFile } from './describe-workflow.ts'
import type { ExecuteWorkflow } from './execution.ts'

type RunWorkflowFlags = RegistryFlags & {
  readonly workflow: string
  readonly input?: readonly string[]
  readonly detach?: boolean
  readonly wait?: boolean
  readonly answer?: readonly string[]
  readonly id?: string
  readonly engine: string
  readonly ingress?: string
  readonly admin?: string
  readonly progress?: string
}

/** Executes a workflow; gives the exit status. What cannot work is told before anything begins. */
export async function runWorkflow(
  flags: RunWorkflowFlags,
  context: BuiltinContext,
): Promise<number> {
  const { io, host, globals } = context
  const {
    workflow: word,
    input: words = [],
    detach = false,
    wait = false,
    answer,
    id,
    engine,
    ingress,
    admin,
  } = flags
  if (globals.secretFile)
    throw new ToolError('USAGE', 'a workflow has no secrets of its own', {
      field: 'secret-file',
      suggestion: 'Name the files in the manifests of its tools',
    })
  if (id !== undefined && globals.idempotencyKey !== undefined)
    throw new ToolError('USAGE', '--id and --idempotency-key both say which run it is', {
      field: 'id',
      suggestion: 'Give one of them',
    })
  if (!Object.hasOwn(ENGINES, engine))
    throw new ToolError(
      'INVALID_INPUT',
      describeUnknownName('engine', engine, Object.keys(ENGINES)).message,
      { field: 'engine' },
    )
  const progress = chooseProgress(flags.progress, globals, io)
  const file = await findWorkflowFile(word, { cwd: io.cwd, config: flags.config })
  const workflow = await loadWorkflow(file, { cwd: io.cwd })
  const input = await readWorkflowInput(words, workflow, io, host.signal)
  if (globals.dryRun)
    return (await import('./describe-workflow.ts')).printDryRunPlan(workflow, input, context)
  const execute = await ENGINES[engine]!()
  return execute(
    {
      workflow,
      file: resolve(io.cwd, file),
      input,
      surroundings: pickRegistryFlags(flags),
      detach,
      wait,
      progress,
      ...compact({ id, key: globals.idempotencyKey }),
      ...(answer && parseAnswers(answer)),
      ...compact({
        timeout:
          globals.timeout !== undefined
            ? toMilliseconds(globals.timeout, 'timeout') / 1000
            : undefined,
        ingress,
        admin,
      }),
    },
    context,
  )
}

/** The engines by their names; each is loaded when it is wanted. */
const ENGINES: { readonly [name: string]: () => Promise<ExecuteWorkflow> } = {
  embedded: async () => (await import('./execute-embedded.ts')).executeEmbedded,
  restate: async () => (await import('./execute-restate.ts')).executeRestate,
}

/**
 * The input of a workflow from what was typed: JSON objects, `@file.json`, `-` for stdin and
 * `key=value`, of which the last counts. Throws USAGE, and INVALID_INPUT for what does not fit the
 * schema of the workflow.
 */
async function readWorkflowInput(
  words: readonly string[],
  { input: schema }: Workflow,
  io: Io,
  signal: AbortSignal,
): Promise<JsonObject> {
  const input = Object.create(null) as { [field: string]: unknown }
  for (const word of words) Object.assign(input, await readInputWord(word, schema, io, signal))
  if (schema) {
    const checked = await checkWorkflowInput(schema, { ...input })
    if (!checked.ok) throw new ToolError('INVALID_INPUT', checked.error.message, { field: 'input' })
  }
  return { ...input }
}

async function readInputWord(
  word: string,
  schema: Workflow['input'],
  io: Io,
  signal: AbortSignal,
): Promise<JsonObject> {
  if (word.trimStart().startsWith('{')) return parseJsonInput(word, 'the input')
  if (word === '-')
    return parseJsonInput((await readStdinText(io.stdin, { signal })) ?? '', 'stdin')
  if (word.startsWith('@'))
    return parseJsonInput(readInputFile(word.slice(1), io.cwd), word.slice(1))
  const [, key, text] = /^([^=\s]+)=(.*)$/s.exec(word) ?? []
  if (key === undefined || text === undefined)
    throw new ToolError(
      'USAGE',
      `'${word.slice(0, 60)}' is no input: give key=value, a JSON object, @file.json or -`,
      { field: 'input', suggestion: `For example '{"root": "src"}', or root=src` },
    )
  const properties = isObject(schema?.['properties']) ? schema['properties'] : {}
  const field = Object.hasOwn(properties, key) ? properties[key] : undefined
  const read = coerceText(isObject(field) ? field : {}, text)
  if (!read.ok) throw new ToolError('INVALID_INPUT', `${key} ${read.message}`, { field: key })
  return { [key]: read.value }
}

function readInputFile(name: string, cwd: string): string {
  try {
    return readFileSync(resolve(cwd, name), 'utf8')
  } catch (error) {
    throw new ToolError(
      'INVALID_PATH',
      `the input file ${name} cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'error'}`,
      { field: 'input', suggestion: 'Give a file that exists' },
    )
  }
}
