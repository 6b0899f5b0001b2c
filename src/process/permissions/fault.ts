import type { KeyPath, LocatedDocument, Place } from '../../contract/documents/document.ts'
import { ToolError } from '../../contract/tool-error.ts'

/** Why a manifest is not accepted, and where in its permissions it says so. `PERMISSION`: it asks for more than any tool gets. `CONFIG`: it cannot be understood. */
export class Fault extends Error {
  readonly code: 'CONFIG' | 'PERMISSION'
  readonly path: KeyPath
  readonly fix: string

  constructor(code: Fault['code'], path: KeyPath, message: string, fix: string) {
    super(message)
    this.code = code
    this.path = path
    this.fix = fix
  }
}

const LARGEST_FILE = 1024 * 1024

/** The fault as everybody sees it: with the file and the line. `file` is left out where the permissions come from no file. */
export async function explainFault(
  { code, path, message, fix }: Fault,
  file: string | undefined,
): Promise<ToolError> {
  const place = file === undefined ? undefined : await locatePermission(file, path)
  return new ToolError(code, `${placeName(file, place)}${message}`, {
    suggestion: fix,
    details: { ...(file !== undefined && { file }), ...place },
  })
}

/** Where a part of its permissions stands in a manifest; undefined where nobody can tell. */
export async function locatePermission(file: string, path: KeyPath): Promise<Place | undefined> {
  const document = await readLocated(file)
  // The resources and secrets of a manifest stand beside its permissions, or in them.
  return (await document?.locate(path)) ?? document?.locate(['permissions', ...path])
}

/** `file:line: `, as far as it is known. */
export function placeName(file: string | undefined, place: Place | undefined): string {
  return file === undefined ? '' : `${file}${place ? `:${place.line}` : ''}: `
}

// Only to name a line: a manifest that cannot be read any more is named without one.
async function readLocated(file: string): Promise<LocatedDocument | undefined> {
  if (!/\.(ya?ml|json)$/i.test(file)) return undefined
  const [{ readFileSync, statSync }, { readYaml }] = await Promise.all([
    import('node:fs'),
    import('../../contract/documents/read-yaml.ts'),
  ])
  try {
    return statSync(file).size > LARGEST_FILE
      ? undefined
      : await readYaml(file, readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}
