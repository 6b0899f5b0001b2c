import type { KeyPath } from '../../../contract/documents/document.ts'
import type { Shape } from '../../../contract/documents/shape.ts'
import { isObject } from '../../../contract/json.ts'
import { PERMISSIONS_SHAPE } from '../../../process/permissions/shape.ts'
import type { DefinitionReader } from '../definition-reader.ts'
import type { Given, ReadKind } from './kind.ts'

const TOOL = /^[^\s"'`\\]{1,200}$/
const WORDS: { readonly [key: string]: readonly string[] } = {
  filesystem: ['none', 'read', 'read-only', 'read-write'],
  network: ['none', 'full'],
}
const TEXT: Shape = { is: 'text' }

/** `command: scan --root src` */
export const readCommand: ReadKind = (given, path, { reader }) => {
  const command = given['command']
  if (!reader.fits(TEXT, command, [...path, 'command'])) return { fields: undefined }
  return {
    fields: { command, ...permissionsOf(given, path, reader) },
    uses: reader.command(String(command), [...path, 'command']),
  }
}

/** `tool: scan` and `input: {root: src}` */
export const readTool: ReadKind = (given, path, { reader }) => {
  const { tool, input } = given
  if (!reader.fits(TEXT, tool, [...path, 'tool'])) return { fields: undefined }
  if (!TOOL.test(String(tool)) || String(tool).includes('${{'))
    reader.find(
      [...path, 'tool'],
      "'tool' must be the name of a tool, without its arguments",
      'Write tool: scan and input: {root: src}, or command: scan --root src',
    )
  if (input === undefined) return { fields: { tool, ...permissionsOf(given, path, reader) } }
  if (!isObject(input))
    reader.find(
      [...path, 'input'],
      "'input' of a tool must be an object with its fields",
      'Write input: {root: src}',
    )
  const { value, uses } = reader.value(input, [...path, 'input'])
  return { fields: { tool, input: value, ...permissionsOf(given, path, reader) }, uses }
}

function permissionsOf(
  { permissions }: Given,
  path: KeyPath,
  reader: DefinitionReader,
): { readonly permissions?: unknown } {
  if (permissions === undefined) return {}
  const at = [...path, 'permissions']
  if (!reader.fits(PERMISSIONS_SHAPE, permissions, at)) return {}
  for (const [key, words] of Object.entries(WORDS)) {
    const word = (permissions as Given)[key]
    if (typeof word === 'string' && !words.includes(word))
      reader.find(
        [...at, key],
        `'${key}' is one of ${words.join(', ')}, or an object; got '${word}'`,
      )
  }
  return { permissions: reader.value(permissions, at).value }
}
