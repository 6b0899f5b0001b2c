/**
 * The step kind `tool`: runs a tool, by a command line or by name and input.
 */

import { PERMISSIONS_SHAPE } from '../../process/grants.ts'
import type { Permissions } from '../../protocol/manifest.ts'
import { ToolError } from '../../protocol/tool-error.ts'
import type { RegistryEntry } from '../../registry/catalog.ts'
import { quoteCommandLine } from '../../util/text.ts'
import type { JsonObject } from '../../util/values.ts'
import { compact, isObject } from '../../util/values.ts'
import type { CommonStep } from '../definition/model.ts'
import type { DefinitionReader } from '../definition/reader.ts'
import { anyShape, mapShape, textShape } from '../definition/schema.ts'
import type { StepToolCall } from '../engine.ts'
import { EXPRESSION_OPEN, listExpressions, pickExpressions } from '../expression-parser.ts'
import type { ExpressionScope } from '../expressions.ts'
import { interpolate, interpolateCommand, splitCommand } from '../expressions.ts'
import { isFunctionTool } from '../lookup.ts'
import { createOkRecord, joinStepPath, runOperation } from './flow.ts'
import type { RawStep, StepKind } from './kind.ts'
import { toPlanText } from './kind.ts'

/** Runs a tool: by a line as it is typed, or by its name and its input. */
export type ToolStep = CommonStep & {
  readonly type: 'tool'
  /** What it may do, less than its manifest allows. */
  readonly permissions?: Permissions
} & ({ readonly command: string } | { readonly tool: string; readonly input?: JsonObject })

declare module '../definition/model.ts' {
  interface StepTypes {
    readonly tool: ToolStep
  }
}

const TOOL_NAME_PATTERN = /^[^\s"'`\\]{1,200}$/
const PERMISSION_WORDS: { readonly [key: string]: readonly string[] } = {
  filesystem: ['none', 'read', 'read-only', 'read-write'],
  network: ['none', 'full'],
}

const COMMAND_KEY = textShape('The tool and its arguments as they are typed')
const TOOL_KEY = textShape('The name of the tool')
const PERMISSIONS_KEY = anyShape(
  { type: 'object' },
  'What the tool may do, less than its manifest allows',
)

export const toolStep: StepKind<ToolStep> = {
  forms: [
    {
      // command: scan --root src
      mark: 'command',
      keys: { command: COMMAND_KEY, permissions: PERMISSIONS_KEY },
      parse({ command, permissions }, { reader }) {
        const at = reader.at('command')
        if (!at.matchesShape(COMMAND_KEY, command)) return undefined
        at.command(String(command))
        return { fields: compact({ command, permissions: parsePermissions(permissions, reader) }) }
      },
    },
    {
      // tool: scan, input: {root: src}
      mark: 'tool',
      keys: { tool: TOOL_KEY, input: mapShape('Its input'), permissions: PERMISSIONS_KEY },
      parse(given, { reader }) {
        const { tool, input, permissions } = given
        const at = reader.at('tool')
        if (!at.matchesShape(TOOL_KEY, tool)) return undefined
        if (!TOOL_NAME_PATTERN.test(String(tool)) || String(tool).includes(EXPRESSION_OPEN))
          at.addProblem(
            "'tool' must be the name of a tool, without its arguments",
            'Write tool: scan and input: {root: src}, or command: scan --root src',
          )
        if (input !== undefined && !isObject(input))
          reader.addFieldProblem(
            'input',
            "'input' of a tool must be an object with its fields",
            'Write input: {root: src}',
          )
        const fields = compact({
          tool,
          input: reader.field(given, 'input'),
          permissions: parsePermissions(permissions, reader),
        })
        return { fields }
      },
    },
  ],
  retriesByDefault: true,
  // The one who performs the call does.
  enforcesTimeout: true,
  *run(step, { scope, path: around }, path, attempt) {
    const { name, timeout, permissions } = step
    const call: StepToolCall = {
      step: joinStepPath(around, name),
      attempt,
      ...resolveToolCall(step, scope),
      ...compact({ timeout, permissions }),
    }
    const { value, run_id } = yield* runOperation({ kind: 'tool', key: path, call })
    return createOkRecord(value, run_id)
  },
  label: (step) => ('command' in step ? step.command : step.tool),
  plan(step, known) {
    if (!('command' in step)) return compact({ tool: step.tool, input: step.input })
    const { command } = step
    const words = known(listCommandExpressions(command), (scope) =>
      interpolateCommand(command, scope),
    )
    return compact({ tool: getToolName(step), command, words })
  },
  describe({ words, command, tool, input }) {
    if (words) return quoteCommandLine(words)
    return command ?? `${tool}${input === undefined ? '' : ` ${toPlanText(input)}`}`
  },
  expressions: (step) =>
    'command' in step ? listCommandExpressions(step.command) : listExpressions(step.input),
  tool: (step) =>
    'command' in step
      ? { name: getToolName(step), key: 'command' }
      : { name: step.tool, key: 'tool', input: step.input ?? {} },
  canRunInline: (step, registry) =>
    step.permissions === undefined &&
    isFunctionTool(registry.find(getToolName(step)) as RegistryEntry | undefined),
}

// The name, or the first word of the command.
function getToolName(step: ToolStep): string {
  return 'tool' in step ? step.tool : splitCommand(step.command)[0]!.map(String).join('')
}

function listCommandExpressions(command: string): ReturnType<typeof listExpressions> {
  return pickExpressions(splitCommand(command).flat())
}

function parsePermissions(permissions: unknown, reader: DefinitionReader): unknown {
  const at = reader.at('permissions')
  if (permissions === undefined || !at.matchesShape(PERMISSIONS_SHAPE, permissions))
    return undefined
  for (const [key, words] of Object.entries(PERMISSION_WORDS)) {
    const word = (permissions as RawStep)[key]
    if (typeof word === 'string' && !words.includes(word))
      at.addFieldProblem(key, `'${key}' is one of ${words.join(', ')}, or an object; got '${word}'`)
  }
  return at.plain(permissions)
}

function resolveToolCall(
  step: ToolStep,
  scope: ExpressionScope,
): Pick<StepToolCall, 'tool' | 'given' | 'command'> {
  if ('tool' in step) {
    const input = step.input === undefined ? {} : interpolate(step.input, scope)
    return { tool: step.tool, given: { input: input as JsonObject } }
  }
  const [name, ...args] = interpolateCommand(step.command, scope)
  if (name === undefined || name === '')
    throw new ToolError('INVALID_INPUT', `the command of '${step.name}' names no tool`)
  return { tool: name, given: { args }, command: step.command }
}
