/**
 * The request of a run for people: without secrets, and as the command line that would start it
 * again.
 */

import { toFlagName } from '../../define/argv.ts'
import type { RunRequest } from '../../runner/request.ts'
import { takesDocument } from '../../runner/request.ts'
import { quoteCommandLine } from '../../util/text.ts'
import type { JsonObject, JsonSchema } from '../../util/values.ts'
import { compact, isObject, parseJsonObject } from '../../util/values.ts'
import type { ShownRequest } from '../model/api.ts'

/**
 * What a run was asked to do, for people: of secrets their names, and nothing of the environment.
 */
export function toShownRequest(request: RunRequest): ShownRequest {
  const { args, input, inputSchema, call } = request
  return compact({
    tool: request.tool,
    version: request.version,
    args: redactArguments(args, inputSchema),
    input: input && redactInput(input, inputSchema),
    input_schema: inputSchema,
    cwd: request.cwd,
    command: call && [...call.command, ...(call.tool === undefined ? [] : [call.tool])],
    form: call?.form,
    timeout_s: request.timeout_s,
    heartbeat_grace_s: request.heartbeat_grace_s,
    retries: request.retries,
    allow_level: request.allow_level,
    permissions: request.permissions,
    manifest: request.manifest,
    secrets: Object.keys(request.secrets ?? {}),
    answers: Object.keys(request.answers ?? {}),
    trace_id: request.trace_id,
    idempotency_key: request.idempotency_key,
    orchestrator: request.orchestrator,
  })
}

// The limits of a run that was started without options.
const DEFAULT_LIMITS = { timeout_s: 1800, heartbeat_grace_s: 90, retries: 3 }

/**
 * The command line that would start a run like this one again, to be pasted in the directory that
 * it was started in.
 */
export function toCommandLine(request: RunRequest): string {
  return quoteCommandLine(['toolable', ...toWords(request)])
}

function toWords(request: RunRequest): readonly string[] {
  if (request.command === 'workflow') return toWorkflowWords(request)
  return request.command === 'agent' ? toAgentWords(request) : toToolWords(request)
}

function toToolWords(request: RunRequest): readonly string[] {
  const {
    tool,
    dry_run,
    timeout_s,
    heartbeat_grace_s,
    retries,
    allow_level,
    secrets = {},
  } = request
  return [
    'run',
    ...toRegistryWords(request),
    ...(dry_run ? ['--dry-run'] : []),
    ...(timeout_s !== undefined && timeout_s !== DEFAULT_LIMITS.timeout_s
      ? ['--timeout', `${timeout_s}s`]
      : []),
    ...(heartbeat_grace_s !== DEFAULT_LIMITS.heartbeat_grace_s
      ? ['--heartbeat-grace', String(heartbeat_grace_s)]
      : []),
    ...(retries !== DEFAULT_LIMITS.retries ? ['--retries', String(retries)] : []),
    ...(allow_level ? ['--allow-level', allow_level] : []),
    ...Object.entries(secrets).flatMap(([name, path]) => ['--secret-file', `${name}=${path}`]),
    ...toAnswerWords(request),
    tool,
    ...toInputWords(request),
  ]
}

// What was typed, where it stands by itself; a document that came by stdin or from a file is
// written out.
function toInputWords({ args, input, inputSchema, call }: RunRequest): readonly string[] {
  const typed = redactArguments(args, inputSchema)
  if (!takesDocument(call) || !input) return typed
  return typed.length > 0 && !typed.some((word) => word === '-' || word.startsWith('@'))
    ? typed
    : [JSON.stringify(redactInput(input, inputSchema))]
}

function toWorkflowWords(request: RunRequest): readonly string[] {
  const { workflow, input = {}, timeout_s, tool } = request
  const name = workflow?.file ?? String(workflow?.definition['name'] ?? tool)
  const server = workflow?.server
  return [
    'workflow',
    'run',
    ...toRegistryWords(request),
    ...(timeout_s === undefined ? [] : ['--timeout', `${timeout_s}s`]),
    ...(server
      ? [
          '--engine',
          'restate',
          '--ingress',
          server.ingress,
          ...(server.admin === undefined ? [] : ['--admin', server.admin]),
        ]
      : []),
    ...toAnswerWords(request),
    name,
    ...(Object.keys(input).length > 0 ? [JSON.stringify(redactInput(input, undefined))] : []),
  ]
}

function toAgentWords(request: RunRequest): readonly string[] {
  const { task, ...settings } = request.input ?? {}
  const words = Object.entries(settings).flatMap(([name, value]): readonly string[] => {
    const flag = `--${toFlagName(name)}`
    if (value === undefined || value === null || value === false) return []
    if (value === true) return [flag]
    return (Array.isArray(value) ? value : [value]).flatMap((one: unknown) => [
      flag,
      typeof one === 'string' ? one : JSON.stringify(one),
    ])
  })
  return ['agent', ...toRegistryWords(request), ...words, String(task ?? '')]
}

function toRegistryWords({ surroundings }: RunRequest): readonly string[] {
  if (!surroundings) return []
  const { config, folder = [], strict, probeUnsandboxed, cache } = surroundings
  return [
    ...(config === undefined ? [] : ['--config', config]),
    ...folder.flatMap((one) => ['--folder', one]),
    ...(strict ? ['--strict'] : []),
    ...(probeUnsandboxed ? ['--probe-unsandboxed'] : []),
    ...(cache === false ? ['--no-cache'] : []),
  ]
}

// On the record already, in the clear: answers are no secrets.
function toAnswerWords({ answers = {} }: RunRequest): readonly string[] {
  return Object.entries(answers).flatMap(([key, value]) => [
    '--answer',
    `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  ])
}

/** What stands where something secret was. */
const REDACTED = '***'

/** A value without what its schema calls secret: `writeOnly`, or the format `password`. */
function redactInput(input: JsonObject, schema: JsonSchema | undefined): JsonObject {
  const properties = schema && isObject(schema['properties']) ? schema['properties'] : {}
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => {
      const field =
        Object.hasOwn(properties, name) && isObject(properties[name]) ? properties[name] : undefined
      if (field && isSecretField(field)) return [name, REDACTED]
      return [name, isObject(value) ? redactInput(value, field) : value]
    }),
  )
}

/**
 * Words as they were typed, without the values of flags that the schema calls secret, and without
 * whole inputs in which one is.
 */
function redactArguments(
  args: readonly string[],
  schema: JsonSchema | undefined,
): readonly string[] {
  const properties = schema && isObject(schema['properties']) ? schema['properties'] : {}
  const flags = Object.entries(properties)
    .filter(([, field]) => isObject(field) && isSecretField(field))
    .map(([name]) => toFlagName(name))
  if (flags.length === 0) return args
  return args.map((word, index) => {
    const [flag, value] = [word.split('=', 1)[0]!, word.includes('=')]
    if (value && flags.includes(toFlagName(flag))) return `${flag}=${REDACTED}`
    if (
      index > 0 &&
      flags.includes(toFlagName(args[index - 1]!)) &&
      !args[index - 1]!.includes('=')
    )
      return REDACTED
    return word.trimStart().startsWith('{') ? redactJsonText(word, schema) : word
  })
}

function redactJsonText(text: string, schema: JsonSchema | undefined): string {
  const value = parseJsonObject(text)
  return value ? JSON.stringify(redactInput(value, schema)) : REDACTED
}

function isSecretField(field: { readonly [keyword: string]: unknown }): boolean {
  return field['writeOnly'] === true || field['format'] === 'password'
}
