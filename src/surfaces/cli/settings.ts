import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Io } from '../../contract/io.ts'
import { isObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'

/** What a project or a user has set for a program. */
export type Settings = {
  readonly output?: string
  readonly timeout?: string
  /** Default input fields of one tool. */
  defaultsOf(program: string, tool: string): { readonly [field: string]: unknown }
}

const NAMES = ['toolable.json', 'toolable.yaml', 'toolable.yml']

/** Reads the nearest project file and the user's file; the project wins. Throws CONFIG for a file that cannot be read. */
export async function readSettings({ env, cwd }: Io): Promise<Settings> {
  const project = findUpwards(cwd)
  const folder = userFolder(env)
  const user =
    folder &&
    NAMES.map((name) => join(folder, name.replace('toolable.', 'config.'))).find((file) =>
      existsSync(file),
    )
  const files = await Promise.all([project, user].flatMap((file) => (file ? [readFile(file)] : [])))
  const read = (name: string): string | undefined => {
    for (const file of files) {
      const settings = file['settings']
      if (isObject(settings) && Object.hasOwn(settings, name)) return String(settings[name])
    }
    return undefined
  }
  const output = read('output')
  const timeout = read('timeout')
  return {
    ...(output !== undefined && { output }),
    ...(timeout !== undefined && { timeout }),
    defaultsOf: (program, tool) =>
      Object.assign(
        {},
        ...files.toReversed().map((file) => child(child(file['defaults'], program), tool)),
      ) as { readonly [field: string]: unknown },
  }
}

function findUpwards(folder: string): string | undefined {
  for (let current = folder; ; current = dirname(current)) {
    const found = NAMES.map((name) => join(current, name)).find((file) => existsSync(file))
    if (found !== undefined || dirname(current) === current) return found
  }
}

function userFolder(env: Io['env']): string | undefined {
  const home = env['HOME'] || env['USERPROFILE']
  if (env['XDG_CONFIG_HOME']) return join(env['XDG_CONFIG_HOME'], 'toolable')
  return home ? join(home, '.config', 'toolable') : undefined
}

async function readFile(file: string): Promise<Record<string, unknown>> {
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

function child(value: unknown, key: string): Record<string, unknown> {
  const found = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
  return isObject(found) ? found : {}
}
