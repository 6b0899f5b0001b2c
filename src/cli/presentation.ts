/**
 * Decides how one call is presented (output mode, dialect, colour), and reads the settings files of
 * the project and the user.
 */

import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { OutputDefault } from '../core/provider.ts'
import type { GlobalFlags } from '../define/global-flags.ts'
import type { DialectName } from '../protocol/dialects/dialects.ts'
import { DIALECT_NAMES } from '../protocol/dialects/dialects.ts'
import type { Io } from '../protocol/io.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { isObject } from '../util/values.ts'
import type { Caller } from './caller.ts'
import { detectCaller } from './caller.ts'
import type { OutputMode } from './formats/table.ts'
import { OUTPUT_MODES } from './formats/table.ts'
import { shouldUseColor } from './formats/terminal-text.ts'

/** How this call is printed. */
export type Presentation = {
  readonly mode: OutputMode
  readonly dialect: DialectName
  /** The agent or CI system that runs the program; undefined for a person. */
  readonly caller: Caller | undefined
  /** Indent JSON, because a person looks at it. */
  readonly pretty: boolean
  readonly color: boolean
  readonly stderrColor: boolean
  /** Undefined when stdout is not a terminal. */
  readonly columns: number | undefined
}

/**
 * Decides mode, dialect and colours: flag, then environment, then settings, then caller, then
 * terminal.
 */
export function choosePresentation(
  globals: GlobalFlags,
  io: Io,
  defaultOutput: OutputDefault = 'auto',
  settings: Pick<CliSettings, 'output'> = {},
): Presentation {
  const { env, stdout, stderr } = io
  const caller = detectCaller(env)
  const explicit = parseOutputMode(globals.output)
  const wished =
    explicit ??
    parseOutputMode(env['TOOLABLE_OUTPUT']) ??
    parseOutputMode(env['TYPER_AGENT_OUTPUT']) ??
    parseOutputMode(settings.output) ??
    parseOutputMode(defaultOutput)
  const { isTTY } = stdout
  const isStderrTTY = stderr.isTTY
  const noColorFlag = globals.noColor === true
  return {
    mode: wished ?? (caller || !isTTY ? 'json' : 'text'),
    dialect:
      DIALECT_NAMES.find((name) => name === globals.dialect) ??
      (explicit === undefined && isSupervised(io) ? 'acor' : 'native'),
    caller,
    pretty: isTTY && !caller,
    color: shouldUseColor({ env, isTTY, noColorFlag }),
    stderrColor: shouldUseColor({ env, isTTY: isStderrTTY, noColorFlag }),
    columns: isTTY ? stdout.columns : undefined,
  }
}

function parseOutputMode(wished: string | undefined): OutputMode | undefined {
  return OUTPUT_MODES.find((mode) => mode === wished)
}

// A runner's environment is inherited by grandchildren too; its stdout is not.
function isSupervised({ env, stdout }: Io): boolean {
  if (!env['RUN_ID'] || !env['AI_PROTOCOL_VERSION']) return false
  const runnerStdout = env['RUN_STDOUT']
  return runnerStdout === undefined || runnerStdout === stdout.identity?.()
}

/** What a project or a user has set for a program. */
type CliSettings = {
  readonly output?: string | undefined
  readonly timeout?: string | undefined
  /** Default input fields of one tool. */
  getDefaults(program: string, tool: string): { readonly [field: string]: unknown }
}

const SETTINGS_FILE_NAMES = ['toolable.json', 'toolable.yaml', 'toolable.yml']
const USER_FILE_NAMES = ['config.json', 'config.yaml', 'config.yml']

/**
 * Reads the nearest project file and the user's file; the project wins. Throws CONFIG for a file
 * that cannot be read.
 */
export async function readSettings({ env, cwd }: Io): Promise<CliSettings> {
  const folder = getUserConfigFolder(env)
  const found = [findProjectFile(cwd), folder && findFile(folder, USER_FILE_NAMES)]
  const files = await Promise.all(found.filter((file) => file !== undefined).map(readSettingsFile))
  const read = (name: string): string | undefined => {
    for (const file of files) {
      const settings = file['settings']
      if (isObject(settings) && Object.hasOwn(settings, name)) return String(settings[name])
    }
    return undefined
  }
  return {
    output: read('output'),
    timeout: read('timeout'),
    getDefaults(program, tool) {
      const defaults = {}
      for (const file of files.toReversed())
        Object.assign(defaults, getChild(getChild(file['defaults'], program), tool))
      return defaults
    },
  }
}

function findProjectFile(folder: string): string | undefined {
  for (let current = folder; ; current = dirname(current)) {
    const found = findFile(current, SETTINGS_FILE_NAMES)
    if (found !== undefined || dirname(current) === current) return found
  }
}

function findFile(folder: string, names: readonly string[]): string | undefined {
  return names.map((name) => join(folder, name)).find((file) => existsSync(file))
}

function getUserConfigFolder(env: Io['env']): string | undefined {
  const home = env['HOME'] || env['USERPROFILE']
  if (env['XDG_CONFIG_HOME']) return join(env['XDG_CONFIG_HOME'], 'toolable')
  return home ? join(home, '.config', 'toolable') : undefined
}

async function readSettingsFile(file: string): Promise<Record<string, unknown>> {
  let value: unknown
  try {
    const text = readFileSync(file, 'utf8')
    value = file.endsWith('.json')
      ? JSON.parse(text)
      : (await import('yaml')).parse(text, { maxAliasCount: 100 })
  } catch (error) {
    throw new ToolError(
      'CONFIG',
      `${file} cannot be read: ${(error as Error).message.split('\n')[0]}`,
    )
  }
  if (value === null || value === undefined) return {}
  if (!isObject(value)) throw new ToolError('CONFIG', `${file} must hold an object`)
  return value
}

function getChild(value: unknown, key: string): Record<string, unknown> {
  const found = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
  return isObject(found) ? found : {}
}
