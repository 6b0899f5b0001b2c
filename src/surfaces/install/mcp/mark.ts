import { createHash } from 'node:crypto'
import { isObject } from '../../../contract/json.ts'
import type { Server, ServerPlace } from '../agents/agent.ts'
import type { Config, Made } from '../formats/format.ts'

/** The environment variable and the HTTP header that mark an entry as ours: the one place where every agent lets us write something, and keeps it. */
export const MARK_VARIABLE = 'TOOLABLE_INSTALLED'
const MARK_HEADER = 'Toolable-Installed'

/** Who wrote an entry, what it was then, and what was made for it. */
export type Mark = {
  readonly program: string
  readonly digest: string
  readonly made: Made
  /** As it stands in the file. */ readonly text: string
}

/** The entry of a server in an agent's form, with our mark. */
export function markedEntry(
  server: Server,
  place: ServerPlace,
  program: string,
  made: Made,
): Config {
  const text = writeMark(program, digestOf(bareEntry(server, place)), made)
  return place.entry(
    server.transport === 'stdio'
      ? { ...server, env: { ...server.env, [MARK_VARIABLE]: text } }
      : { ...server, headers: { ...server.headers, [MARK_HEADER]: text } },
  )
}

/** The entry of a server as somebody would write it by hand. */
export function bareEntry(server: Server, place: ServerPlace): Config {
  return withoutMark(place.entry(server), place)
}

/** An entry without our mark. */
export function withoutMark(entry: Config, { fields }: ServerPlace): Config {
  return Object.fromEntries(
    Object.entries(entry).flatMap(([field, value]) => {
      const name =
        field === fields.env ? MARK_VARIABLE : field === fields.headers ? MARK_HEADER : undefined
      if (name === undefined || !isObject(value)) return [[field, value]]
      const { [name]: _, ...others } = value
      return Object.keys(others).length === 0 ? [] : [[field, others]]
    }),
  )
}

/** The mark of an entry; undefined for one that we did not write. */
export function readMark(entry: Config, { fields }: ServerPlace): Mark | undefined {
  const [env, headers] = [entry[fields.env], entry[fields.headers]]
  const text =
    (isObject(env) && Object.hasOwn(env, MARK_VARIABLE) ? env[MARK_VARIABLE] : undefined) ??
    (isObject(headers) && Object.hasOwn(headers, MARK_HEADER) ? headers[MARK_HEADER] : undefined)
  const [, program, digest, made = ''] =
    (typeof text === 'string' && /^(\S+) ([0-9a-f]{16})(?: (\S+))?$/.exec(text)) || []
  return program === undefined || digest === undefined
    ? undefined
    : { program, digest, made: readMade(made), text: text as string }
}

/** A mark as it stands in a file. */
export function writeMark(
  program: string,
  digest: string,
  { part, opened, folders = 0 }: Made,
): string {
  const words = [part, opened && 'opened', folders > 0 && `folders=${folders}`].filter(Boolean)
  return [program, digest, ...(words.length > 0 ? [words.join(',')] : [])].join(' ')
}

/** What an entry holds, in sixteen letters; the order of keys does not count. */
export function digestOf(entry: Config): string {
  return createHash('sha256')
    .update(
      JSON.stringify(entry, (_, value: unknown) =>
        isObject(value)
          ? Object.fromEntries(
              Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)),
            )
          : value,
      ),
    )
    .digest('hex')
    .slice(0, 16)
}

function readMade(text: string): Made {
  const words = text.split(',')
  const part = (['file', 'root', 'container'] as const).find((name) => words.includes(name))
  const folders = Number(
    words.find((word) => word.startsWith('folders='))?.slice('folders='.length) ?? 0,
  )
  return {
    ...(part && { part }),
    ...(words.includes('opened') && { opened: true }),
    ...(Number.isInteger(folders) && folders > 0 && { folders }),
  }
}
