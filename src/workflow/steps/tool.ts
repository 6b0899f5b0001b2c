/**
 * The step kind `tool`: runs a tool, by a command line or by name and input.
 */

import { PERMISSIONS_SHAPE } from '../../process/grants.ts'
import type { ConfigShape } from '../../protocol/config-shape.ts'
import type { KeyPath } from '../../protocol/documents.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import { compact, isObject } from '../../util/values.ts'
import type { JsonObject } from '../../util/values.ts'
import { interpolateCommand } from '../command-line.ts'
import type { ToolStep } from '../definition/model.ts'
import type { DefinitionReader } from '../definition/reader.ts'
import type { StepToolCall } from '../engine.ts'
import { interpolate } from '../expressions.ts'
import type { ExpressionScope } from '../expressions.ts'
import { createOkRecord, joinStepPath, runOperation } from './flow.ts'
import type { ParseStep, RawStep, StepKind } from './flow.ts'

const TOOL_NAME_PATTERN = /^[^\s"'`\\]{1,200}$/
const PERMISSION_WORDS: { readonly [key: string]: readonly string[] } = {
  filesystem: ['none', 'read', 'read-only', 'read-write'],
  network: ['none', 'full'],
}
const TEXT_SHAPE: ConfigShape = { is: 'text' }

/** `command: scan --root src` */
export const parseCommandStep: ParseStep = (given, path, { reader }) => {
  const command = given['command']
  if (!reader.matchesShape(TEXT_SHAPE, command, [...path, 'command'])) return { fields: undefined }
  return {
    fields: { command, ...parsePermissions(given, path, reader) },
    uses: reader.command(String(command), [...path, 'command']),
  }
}

/** `tool: scan` and `input: {root: src}` */
export const parseToolStep: ParseStep = (given, path, { reader }) => {
  const { tool, input } = given
  if (!reader.matchesShape(TEXT_SHAPE, tool, [...path, 'tool'])) return { fields: undefined }
  if (!TOOL_NAME_PATTERN.test(String(tool)) || String(tool).includes('${{'))
    reader.addProblem(
      [...path, 'tool'],
      "'tool' must be the name of a tool, without its arguments",
      'Write tool: scan and input: {root: src}, or command: scan --root src',
    )
  if (input === undefined) return { fields: { tool, ...parsePermissions(given, path, reader) } }
  if (!isObject(input))
    reader.addProblem(
      [...path, 'input'],
      "'input' of a tool must be an object with its fields",
      'Write input: {root: src}',
    )
  const { value, uses } = reader.value(input, [...path, 'input'])
  return { fields: { tool, input: value, ...parsePermissions(given, path, reader) }, uses }
}

function parsePermissions(
  { permissions }: RawStep,
  path: KeyPath,
  reader: DefinitionReader,
): { readonly permissions?: unknown } {
  if (permissions === undefined) return {}
  const at = [...path, 'permissions']
  if (!reader.matchesShape(PERMISSIONS_SHAPE, permissions, at)) return {}
  for (const [key, words] of Object.entries(PERMISSION_WORDS)) {
    const word = (permissions as RawStep)[key]
    if (typeof word === 'string' && !words.includes(word))
      reader.addProblem(
        [...at, key],
        `'${key}' is one of ${words.join(', ')}, or an object; got '${word}'`,
      )
  }
  return { permissions: reader.value(permissions, at).value }
}

/** A call of a tool. Its time is kept by whoever performs it. */
export const toolStep: StepKind<ToolStep> = {
  retriesByDefault: true,
  enforceTimeout: false,
  *run(step, { scope, path: around }, path, attempt) {
    const { timeout, permissions } = step
    const call: StepToolCall = {
      step: joinStepPath(around, step.name),
      attempt,
      ...resolveToolCall(step, scope),
      ...compact({ timeout, permissions }),
    }
    const { value, run_id } = yield* runOperation({ kind: 'tool', key: path, call })
    return createOkRecord(value, run_id)
  },
}

function resolveToolCall(
  step: ToolStep,
  scope: ExpressionScope,
): Pick<StepToolCall, 'tool' | 'given' | 'command'> {
  if ('tool' in step)
    return {
      tool: step.tool,
      given: {
        input: (step.input === undefined ? {} : interpolate(step.input, scope)) as JsonObject,
      },
    }
  const [name, ...args] = interpolateCommand(step.command, scope)
  if (name === undefined || name === '')
    throw new ToolError('INVALID_INPUT', `the command of '${step.name}' names no tool`)
  return { tool: name, given: { args }, command: step.command }
}
