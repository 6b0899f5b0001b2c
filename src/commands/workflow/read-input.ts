import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Io } from '../../contract/io.ts'
import { isObject } from '../../contract/json.ts'
import type { JsonObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { parseJsonInput } from '../../define/argv/json-input.ts'
import { coerceText } from '../../define/schema/coerce.ts'
import { readAll } from '../../surfaces/cli/stdin.ts'
import { checkInput } from '../../workflow/interpret/check-input.ts'
import type { Workflow } from '../../workflow/definition/workflow-type.ts'

/** The input of a workflow from what was typed: JSON objects, `@file.json`, `-` for stdin and `key=value`, of which the last counts. Throws USAGE, and INVALID_INPUT for what does not fit the schema of the workflow. */
export async function readWorkflowInput(
  words: readonly string[],
  { input: schema }: Workflow,
  io: Io,
  signal: AbortSignal,
): Promise<JsonObject> {
  const input = Object.create(null) as { [field: string]: unknown }
  for (const word of words) Object.assign(input, await readWord(word, schema, io, signal))
  if (schema) {
    const checked = await checkInput(schema, { ...input })
    if (!checked.ok) throw new ToolError('INVALID_INPUT', checked.error.message, { field: 'input' })
  }
  return { ...input }
}

async function readWord(
  word: string,
  schema: Workflow['input'],
  io: Io,
  signal: AbortSignal,
): Promise<JsonObject> {
  if (word.trimStart().startsWith('{')) return parseJsonInput(word, 'the input')
  if (word === '-') return parseJsonInput((await readAll(io.stdin, { signal })) ?? '', 'stdin')
  if (word.startsWith('@')) return parseJsonInput(readText(word.slice(1), io.cwd), word.slice(1))
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

function readText(name: string, cwd: string): string {
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
