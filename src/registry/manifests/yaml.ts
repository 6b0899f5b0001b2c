/**
 * Reads manifests in YAML: the fractalic form, the orchestration form, and error_codes.yaml.
 */

import { failReading } from '../../protocol/documents.ts'
import type { ReadResult } from '../../protocol/documents.ts'
import { findErrorRow } from '../../protocol/errors.ts'
import type { DeclaredError, ErrorCategory } from '../../protocol/errors.ts'
import { compact, isObject } from '../../util/values.ts'
import type { JsonSchema } from '../../util/values.ts'
import type { CallForm } from '../child/child-call.ts'
import {
  filterTexts,
  findNameProblem,
  findPermissionsProblem,
  getOwn,
  readMetadata,
  readPermissions,
  readServerManifest,
  toTextMap,
} from './metadata.ts'
import type { ManifestFile, ScriptRunner } from './metadata.ts'

/** The commands of the fractalic form. */
const FRACTALIC_COMMANDS = [
  'python',
  'python-cli',
  'bash-cli',
  'bash',
  'mcp',
  'node',
  'exec',
] as const

type ManifestData = { readonly [key: string]: unknown }

/**
 * Tells by its keys what a parsed YAML file is; undefined: no manifest at all. `registered` files
 * lie where only manifests of the orchestration form lie.
 */
export function readManifest(
  data: unknown,
  registered = false,
): ReadResult<ManifestFile> | undefined {
  if (!isObject(data))
    return registered
      ? failReading('manifest', 'is not a mapping', 'Write name, version and entry, one a line')
      : undefined
  const has = (key: string): boolean =>
    getOwn(data, key) !== undefined && getOwn(data, key) !== null
  if (has('command'))
    return hasFractalicCommand(data) ? readFractalic(data) : rejectUnknownCommand(data, has)
  if (
    registered ||
    (has('entry') && (has('protocol_version') || has('permissions') || has('inputs')))
  )
    return readOrchestration(data)
  if (has('name') && has('entry'))
    return failReading(
      'manifest',
      "has 'name' and 'entry' but nothing that says how it is called",
      `Add command: ${FRACTALIC_COMMANDS.join(' | ')}, or protocol_version: 1`,
    )
  if (
    has('name') &&
    (has('parameters') || has('protocol_version') || Array.isArray(getOwn(data, 'inputs')))
  )
    return failReading(
      'manifest',
      has('parameters')
        ? "has 'name' and 'parameters' but neither 'command' nor 'entry'"
        : "has 'name' but no 'entry'",
      'Add the entry: the program that is called',
    )
  return undefined
}

function hasFractalicCommand(data: ManifestData): boolean {
  return (FRACTALIC_COMMANDS as readonly unknown[]).includes(getOwn(data, 'command'))
}

function rejectUnknownCommand(
  data: ManifestData,
  has: (key: string) => boolean,
): ReadResult<ManifestFile> | undefined {
  if (!has('name') || !(has('entry') || has('parameters'))) return undefined
  return failReading(
    'manifest',
    `has the command ${JSON.stringify(getOwn(data, 'command'))?.slice(0, 80)}`,
    `Write one of ${FRACTALIC_COMMANDS.join(', ')}`,
  )
}

type FractalicData = { readonly [key: string]: unknown }

const COMMAND_FORMS: {
  readonly [command: string]: {
    readonly runner: ScriptRunner
    readonly form: CallForm
    readonly free?: true
  }
} = {
  python: { runner: 'python', form: 'json' },
  'python-cli': { runner: 'python', form: 'flags' },
  bash: { runner: 'bash', form: 'json' },
  'bash-cli': { runner: 'bash', form: 'flags' },
  node: { runner: 'node', form: 'json', free: true },
  exec: { runner: 'exec', form: 'json', free: true },
}
const FRACTALIC_CALL_FORMS = [
  'json',
  'flags',
  'stdin',
  'protocol',
] as const satisfies readonly CallForm[]

/** Reads a manifest of the fractalic form: `name, description, command, entry, parameters`. */
function readFractalic(data: FractalicData): ReadResult<ManifestFile> {
  const name = getOwn(data, 'name')
  const unnamed = findNameProblem(name)
  if (unnamed !== undefined) return failReading('manifest', unnamed, "Add a line 'name: ...'")
  const parameters = getOwn(data, 'parameters') ?? undefined
  if (
    parameters !== undefined &&
    (!isObject(parameters) || (getOwn(parameters, 'type') ?? 'object') !== 'object')
  )
    return failReading(
      'manifest',
      "has 'parameters' that are no JSON Schema of an object",
      'Write parameters: {type: object, properties: {...}}',
    )
  const wide = findPermissionsProblem(data)
  if (wide) return wide
  const facts = {
    ...readMetadata(data),
    ...compact({
      inputSchema: isObject(parameters) ? { type: 'object', ...parameters } : undefined,
    }),
  }
  const command = getOwn(data, 'command') as string
  if (command === 'mcp' && facts.permissions)
    return failReading(
      'manifest',
      "has 'permissions', which cannot be enforced for a server that many calls share",
      "Take 'permissions' out, and start the server in a sandbox of its own",
    )
  if (command === 'mcp')
    return readServerManifest(data, name as string, facts, parameters !== undefined)
  const entry = getOwn(data, 'entry')
  if (typeof entry !== 'string' || entry.trim() === '')
    return failReading('manifest', "has no 'entry'", "Add a line 'entry: <the program>'")
  const { runner, form: usual, free } = COMMAND_FORMS[command]!
  const form = getOwn(data, 'call') ?? usual
  if (!(FRACTALIC_CALL_FORMS as readonly unknown[]).includes(form) || (!free && form !== usual))
    return failReading(
      'manifest',
      `has 'call: ${String(form).slice(0, 40)}'`,
      free
        ? `Write one of ${FRACTALIC_CALL_FORMS.join(', ')}`
        : `Take it out: the command ${command} is always called by ${usual}; node and exec may choose`,
    )
  const env = getOwn(data, 'env')
  const given = isObject(env) && !Array.isArray(getOwn(env, 'require')) ? toTextMap(env) : undefined
  const required = isObject(env) ? filterTexts(getOwn(env, 'require')) : []
  return {
    value: {
      style: 'fractalic',
      name: name as string,
      facts,
      entry,
      runner,
      ...compact({
        version:
          typeof getOwn(data, 'version') === 'string'
            ? (getOwn(data, 'version') as string)
            : undefined,
      }),
      call: compact({
        form: form as CallForm,
        env: given,
        requireEnv: required.length > 0 ? required : undefined,
      }),
    },
  }
}

type OrchestrationData = { readonly [key: string]: unknown }

/**
 * Reads a manifest of the orchestration form: `name, version, entry, protocol_version, inputs,
 * permissions, resources, env, exit_codes, orchestrator`.
 */
function readOrchestration(data: OrchestrationData): ReadResult<ManifestFile> {
  const name = getOwn(data, 'name')
  const unnamed = findNameProblem(name)
  if (unnamed !== undefined) return failReading('manifest', unnamed, "Add a line 'name: ...'")
  const entry = getOwn(data, 'entry') ?? undefined
  if (entry !== undefined && (typeof entry !== 'string' || entry.trim() === ''))
    return failReading(
      'manifest',
      "has an 'entry' that is not a path",
      "Write 'entry: cli.py', or leave it out",
    )
  const protocol = getOwn(data, 'protocol_version') ?? undefined
  if (protocol !== undefined && String(protocol) !== '1')
    return failReading(
      'manifest',
      `wants protocol_version ${JSON.stringify(protocol)?.slice(0, 40)}`,
      'Write protocol_version: 1, the only one there is',
    )
  const inputs = toInputsSchema(getOwn(data, 'inputs') ?? undefined)
  if (inputs && 'problem' in inputs) return inputs
  const wide = findPermissionsProblem(data)
  if (wide) return wide
  const orchestrator = getOwn(data, 'orchestrator') === true
  if (
    orchestrator &&
    ['permissions', 'resources', 'secrets'].some(
      (key) => (getOwn(data, key) ?? undefined) !== undefined,
    )
  )
    return failReading(
      'manifest',
      "is an orchestrator, which runs with its caller's rights, and has permissions",
      'Take out one of the two; the tools that it starts have permissions of their own',
    )
  const version = getOwn(data, 'version')
  const env = getOwn(data, 'env')
  const required = isObject(env) ? filterTexts(getOwn(env, 'require')) : []
  const exitCodes = readExitCodes(getOwn(data, 'exit_codes'))
  const health = getOwn(data, 'health')
  const selftest = isObject(health) ? filterTexts(getOwn(health, 'selftest')) : []
  return {
    value: compact({
      style: 'orchestration',
      name: name as string,
      version:
        typeof version === 'string' || typeof version === 'number' ? String(version) : undefined,
      // A manifest of this form binds its tool, also where it asks for nothing; only what starts
      // other tools cannot be bound, and they are.
      facts: {
        ...readMetadata(data),
        ...compact({
          inputSchema: inputs ? inputs.value : undefined,
          permissions: !orchestrator ? readPermissions(data) : undefined,
        }),
      },
      orchestrator: orchestrator || undefined,
      entry,
      call: compact({
        form: protocol === undefined ? 'flags' : 'protocol',
        requireEnv: required.length > 0 ? required : undefined,
        exitCodes,
      }),
      selftest: selftest.length > 0 ? selftest : undefined,
    }),
  }
}

function readExitCodes(value: unknown): { readonly [meaning: string]: number } | undefined {
  if (!isObject(value)) return undefined
  return Object.fromEntries(
    Object.entries(value).filter(
      (entry): entry is [string, number] =>
        Number.isInteger(entry[1]) && (entry[1] as number) >= 0 && (entry[1] as number) <= 255,
    ),
  )
}

type InputData = { readonly [key: string]: unknown }

const INPUT_TYPES: { readonly [type: string]: JsonSchema } = {
  string: { type: 'string' },
  str: { type: 'string' },
  text: { type: 'string' },
  path: { type: 'string', format: 'path' },
  file: { type: 'string', format: 'path' },
  directory: { type: 'string', format: 'path' },
  integer: { type: 'integer' },
  int: { type: 'integer' },
  number: { type: 'number' },
  float: { type: 'number' },
  boolean: { type: 'boolean' },
  bool: { type: 'boolean' },
  flag: { type: 'boolean' },
  array: { type: 'array' },
  list: { type: 'array' },
  object: { type: 'object', additionalProperties: true },
  json: {},
  any: {},
  enum: {},
}
const COPIED_KEYWORDS = [
  'description',
  'default',
  'enum',
  'minimum',
  'maximum',
  'pattern',
  'items',
] as const

/**
 * The schema that a list of inputs means: `- {name: source, type: path, required: true}`. Undefined
 * where no list is given.
 */
function toInputsSchema(inputs: unknown): ReadResult<JsonSchema> | undefined {
  if (inputs === undefined) return undefined
  if (!Array.isArray(inputs))
    return failReading(
      'manifest',
      "has 'inputs' that are not a list",
      'Write each input as - {name: source, type: path, required: true}',
    )
  const properties: { [name: string]: JsonSchema } = {}
  const required: string[] = []
  for (const input of inputs as readonly unknown[]) {
    const name = isObject(input) ? getOwn(input, 'name') : undefined
    if (!isObject(input) || typeof name !== 'string' || name === '' || name === '__proto__')
      return failReading(
        'manifest',
        'has an input without a name',
        'Write each input as - {name: source, type: path, required: true}',
      )
    if (Object.hasOwn(properties, name))
      return failReading('manifest', `has the input '${name}' twice`, 'Take one of them out')
    const type = getOwn(input, 'type') ?? 'string'
    if (typeof type !== 'string' || !Object.hasOwn(INPUT_TYPES, type))
      return failReading(
        'manifest',
        `has the input '${name}' of the unknown type ${JSON.stringify(type)?.slice(0, 40)}`,
        `Write one of ${Object.keys(INPUT_TYPES).join(', ')}`,
      )
    properties[name] = toInputSchema(input, type)
    if (isTruthyText(getOwn(input, 'required'))) required.push(name)
  }
  return {
    value: compact({
      type: 'object',
      properties,
      required: required.length > 0 ? required : undefined,
      additionalProperties: false,
    }),
  }
}

function toInputSchema(input: InputData, type: string): JsonSchema {
  const choices = getOwn(input, 'choices') ?? getOwn(input, 'values')
  const direction = getOwn(input, 'direction')
  return {
    ...INPUT_TYPES[type],
    ...Object.fromEntries(
      COPIED_KEYWORDS.filter((key) => getOwn(input, key) !== undefined).map((key) => [
        key,
        input[key],
      ]),
    ),
    ...compact({
      enum: Array.isArray(choices) ? choices : undefined,
      'x-toolable-path':
        INPUT_TYPES[type]!['format'] === 'path' &&
        (direction === 'in' || direction === 'out' || direction === 'inout')
          ? { direction }
          : undefined,
    }),
  }
}

// Older YAML says yes and on, which the present one reads as text.
function isTruthyText(value: unknown): boolean {
  return value === true || (typeof value === 'string' && /^(true|yes|on)$/i.test(value))
}

export type ErrorCodes = { readonly [code: string]: DeclaredError }

const CATEGORIES_BY_CLASS: { readonly [className: string]: ErrorCategory } = {
  user_error: 'input',
  policy_error: 'auth',
  retryable: 'runtime',
  infra_error: 'runtime',
  unknown: 'internal',
}

/**
 * Reads `registry/error_codes.yaml`: `codes: {E_MY_THING: {class: user_error, retryable: false}}`.
 */
export function readErrorCodes(data: unknown): ReadResult<ErrorCodes> {
  const codes = isObject(data) ? getOwn(data, 'codes') : undefined
  if (!isObject(codes))
    return failReading(
      'error-codes',
      "has no mapping 'codes'",
      'Write codes: {E_MY_THING: {class: user_error, retryable: false}}',
    )
  const declared: { [code: string]: DeclaredError } = {}
  for (const [code, given] of Object.entries(codes)) {
    if (!/^[A-Z][A-Z0-9_]{0,63}$/.test(code))
      return failReading(
        'error-codes',
        `has the code '${code.slice(0, 80)}'`,
        'Write codes in capital letters, digits and _, like E_MY_THING',
      )
    const facts = isObject(given) ? given : {}
    const className = getOwn(facts, 'class') ?? 'unknown'
    if (typeof className !== 'string' || !Object.hasOwn(CATEGORIES_BY_CLASS, className))
      return failReading(
        'error-codes',
        `has the class ${JSON.stringify(className)?.slice(0, 40)} at ${code}`,
        `Write one of ${Object.keys(CATEGORIES_BY_CLASS).join(', ')}`,
      )
    const retryable = getOwn(facts, 'retryable')
    const message = getOwn(facts, 'message') ?? getOwn(facts, 'description')
    declared[code] = {
      category: CATEGORIES_BY_CLASS[className]!,
      message:
        typeof message === 'string' && message.trim() !== ''
          ? message
          : (findErrorRow(code)?.row.meaning ?? toErrorWords(code)),
      retryable: typeof retryable === 'boolean' ? retryable : className === 'retryable',
      recoverable: className === 'user_error',
    }
  }
  return { value: declared }
}

function toErrorWords(code: string): string {
  const words = code.replace(/^E_/, '').replaceAll('_', ' ').toLowerCase().trim()
  return words === '' ? code : words[0]!.toUpperCase() + words.slice(1)
}
