/**
 * `toolable workflow run`: reads the input and hands the workflow to an engine. engines.ts
 * is the table of engines.
 */

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { readStdinText } from '../../cli/input.ts'
import type { BuiltinContext } from '../../cli/types.ts'
import { coerceText } from '../../define/flag-input.ts'
import type { Io } from '../../protocol/io.ts'
import { parseJsonInput } from '../../protocol/parse-json.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { describeUnknownName } from '../../util/text.ts'
import type { JsonObject } from '../../util/values.ts'
import { isObject } from '../../util/values.ts'
import { loadWorkflow } from '../../workflow/definition/load.ts'
import type { Workflow } from '../../workflow/definition/model.ts'
import { checkWorkflowInput } from '../../workflow/scheduler.ts'
import { chooseProgress } from '../command.ts'
import { pickRegistryFlags } from '../config.ts'
import { getRunCaller } from '../run/consent.ts'
import { parseRunOptions } from '../run/create-run.ts'
import { findWorkflowFile, printDryRunPlan } from './describe-workflow.ts'
import { ENGINES } from './engines.ts'

type RunWorkflowFlags = Parameters<(typeof ENGINES)[string]>[0]['flags'] & {
  readonly workflow: string
  readonly input?: readonly string[]
  readonly engine: string
}

/** Executes a workflow; gives the exit status. Mistakes are reported before anything begins. */
export async function runWorkflow(
  flags: RunWorkflowFlags,
  context: BuiltinContext,
): Promise<number> {
  const { io, host, globals } = context
  if (globals.secretFile)
    throw new ToolError('USAGE', 'a workflow has no secrets of its own', {
      field: 'secret-file',
      suggestion: 'Name the files in the manifests of its tools',
    })
  if (flags.id !== undefined && globals.idempotencyKey !== undefined)
    throw new ToolError('USAGE', '--id and --idempotency-key both say which run it is', {
      field: 'id',
      suggestion: 'Give one of them',
    })
  const execute = Object.hasOwn(ENGINES, flags.engine) ? ENGINES[flags.engine] : undefined
  if (!execute)
    throw new ToolError(
      'INVALID_INPUT',
      describeUnknownName('engine', flags.engine, Object.keys(ENGINES)).message,
      { field: 'engine' },
    )
  const progress = chooseProgress(flags.progress, context)
  const path = await findWorkflowFile(flags.workflow, { cwd: io.cwd, config: flags.config })
  const workflow = await loadWorkflow(path, { cwd: io.cwd })
  const input = await readWorkflowInput(flags.input ?? [], workflow, io, host.signal)
  if (globals.dryRun) return printDryRunPlan(workflow, input, context)
  const options = {
    ...parseRunOptions(flags, globals, io.cwd),
    surroundings: pickRegistryFlags(flags),
    caller: getRunCaller(io),
  }
  const file = resolve(io.cwd, path)
  return execute({ workflow, input, file, flags, options, progress }, context)
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
