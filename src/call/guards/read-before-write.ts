import type { Guard, GuardedCall } from '../../contract/guard.ts'
import { isObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { checkOptions } from '../../define/names.ts'
import { slice } from '../state/slice.ts'
import { versionOfFile } from './file-version.ts'
import { guard } from './guard.ts'
import { isOneOf } from './tool-names.ts'

type Seen = { readonly path: string; readonly version: string }

const seen = slice<Seen>('toolable.guards.seen', { by: ({ path }) => path, read: readSeen })

export type ReadBeforeWriteOptions = {
  /** The tools that read; the first is the one that refusals advise. */
  readonly read: string | readonly string[]
  /** The tools that change what is there. */
  readonly write: string | readonly string[]
  /** The fields of the input that name what is read or written; default `path`. A field holds a text or a list of texts. */
  readonly path?: string | readonly string[]
  /** Tells what stands at a path: a text that is another one when it has changed, undefined where there is nothing. Default: by the files of the state. */
  readonly version?: (
    path: string,
    call: GuardedCall,
  ) => string | undefined | Promise<string | undefined>
}

/** Nothing is changed that was not read before as it is now, on the same state: what somebody else has changed since must be read again. What the writing tools left is known, and a path where nothing is, is free. */
export function readBeforeWrite(options: ReadBeforeWriteOptions): Guard {
  checkOptions('guards.readBeforeWrite()', options, ['read', 'write', 'path', 'version'])
  const { read, write, version = versionOfFile } = options
  const isReader = isOneOf('read of guards.readBeforeWrite()', read)
  const isWriter = isOneOf('write of guards.readBeforeWrite()', write)
  const fields = [options.path ?? 'path'].flat()
  const [reader] = [read].flat()
  return guard({
    name: 'read_before_write',
    async check(call) {
      if (!isWriter(call.tool)) return undefined
      for (const path of pathsOf(call, fields)) {
        const now = await version(path, call)
        if (now === undefined) continue
        const known = call.state.get(seen).where((entry) => entry.path === path)[0]
        if (known?.version === now) continue
        return {
          message: known
            ? `'${path}' has changed since it was read, so '${call.tool}' may not change it`
            : `'${path}' exists and was not read, so '${call.tool}' may not change it`,
          advice: `Call '${reader}' with ${JSON.stringify({ [fields[0]!]: path })}; then call '${call.tool}' again`,
          details: { path, reason: known ? 'changed' : 'not_read' },
        }
      }
      return undefined
    },
    async passed(call) {
      if (!isReader(call.tool) && !isWriter(call.tool)) return
      for (const path of pathsOf(call, fields)) {
        const now = await version(path, call)
        if (now === undefined) call.state.get(seen).clear((entry) => entry.path === path)
        else call.state.get(seen).upsert({ path, version: now })
      }
    },
  })
}

function pathsOf({ tool, input }: GuardedCall, fields: readonly string[]): readonly string[] {
  const given = fields
    .flatMap((field) =>
      isObject(input) && Object.hasOwn(input, field) && input[field] !== undefined
        ? [input[field]]
        : [],
    )
    .flat()
  if (given.length === 0 || !given.every((path) => typeof path === 'string'))
    throw new ToolError(
      'CONFIG',
      `guard 'read_before_write' finds no path in the input of '${tool}': it looks for texts in ${fields.join(', ')}`,
      {
        suggestion: {
          action: 'abort',
          fix: `Name the fields that hold paths: guards.readBeforeWrite({ …, path: ['file'] })`,
        },
      },
    )
  return (given as readonly string[]).map(plain)
}

// Only what means the same on every file system: behind a link, `a/../b` is not `b`, and a name may hold a backslash.
function plain(path: string): string {
  const names = path
    .split('/')
    .filter((name) => name !== '' && name !== '.')
    .join('/')
  return path.startsWith('/') ? `/${names}` : names || '.'
}

function readSeen(value: unknown): Seen {
  if (!isObject(value) || typeof value['path'] !== 'string' || typeof value['version'] !== 'string')
    throw new TypeError('what was read is { path, version }')
  return { path: value['path'], version: value['version'] }
}
