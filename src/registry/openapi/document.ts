import { resolve } from 'node:path'
import { isObject } from '../../contract/json.ts'
import type { JsonObject } from '../../contract/json.ts'
import { quoteForShell } from '../../contract/quote-for-shell.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { request } from '../http/request.ts'
import type { LoadContext } from '../source.ts'

const TIMEOUT = 10_000
const LARGEST_JSON = 16 * 1024 * 1024
const LARGEST_YAML = 4 * 1024 * 1024

/** Reads an OpenAPI document: the object itself, a file, or an address, as JSON or YAML; `from` is that address. Throws ToolError. */
export async function readDocument(
  given: string | JsonObject,
  headers: { readonly [name: string]: string },
  { cwd, signal }: Pick<LoadContext, 'cwd' | 'signal'>,
  who: string,
): Promise<{ readonly document: JsonObject; readonly from?: URL }> {
  if (typeof given !== 'string') return { document: check(given, who) }
  if (!/^https?:\/\//i.test(given))
    return { document: check(await parse(await readText(resolve(cwd, given), who), who), who) }
  const from = new URL(given)
  const { status, bytes } = await request({
    url: from,
    method: 'GET',
    headers: { accept: 'application/json, application/yaml;q=0.9, */*;q=0.5', ...headers },
    signal,
    timeout: TIMEOUT,
    who,
  })
  if (status >= 300)
    throw new ToolError(
      'DEPENDENCY',
      `${who}: its document was answered with HTTP status ${status}`,
      { suggestion: `Try it by hand: curl -i ${from.origin}${from.pathname}` },
    )
  return { document: check(await parse(bytes.toString('utf8'), who), who), from }
}

async function readText(path: string, who: string): Promise<string> {
  const { readFile, stat } = await import('node:fs/promises')
  try {
    if ((await stat(path)).size > LARGEST_JSON)
      throw new ToolError(
        'CONFIG',
        `${who}: ${path} has more than ${LARGEST_JSON / 1024 / 1024} MiB`,
      )
    return await readFile(path, 'utf8')
  } catch (error) {
    if (ToolError.is(error)) throw error
    throw new ToolError(
      'CONFIG',
      `${who}: its document cannot be read: ${(error as Error).message}`,
      { suggestion: `Look whether it is there: ls -l ${quoteForShell(path)}`, cause: error },
    )
  }
}

async function parse(text: string, who: string): Promise<unknown> {
  const bare = text.replace(/^\uFEFF/, '')
  try {
    return JSON.parse(bare) as unknown
  } catch (error) {
    if (/^\s*[{[]/.test(bare))
      throw new ToolError(
        'CONFIG',
        `${who}: its document is no JSON: ${(error as Error).message}`,
        { cause: error },
      )
  }
  if (bare.length > LARGEST_YAML)
    throw new ToolError(
      'CONFIG',
      `${who}: its document has more than ${LARGEST_YAML / 1024 / 1024} MiB of YAML`,
      { suggestion: 'Write it as JSON' },
    )
  const { parse: parseYaml } = await import('yaml')
  try {
    return parseYaml(bare, {
      merge: false,
      maxAliasCount: 100,
      logLevel: 'error',
      schema: 'core',
    }) as unknown
  } catch (error) {
    throw new ToolError(
      'CONFIG',
      `${who}: its document is neither JSON nor YAML: ${(error as Error).message.split('\n', 1)[0]}`,
      { cause: error },
    )
  }
}

function check(document: unknown, who: string): JsonObject {
  if (!isObject(document)) throw new ToolError('CONFIG', `${who}: its document is no object`)
  if (typeof document['swagger'] === 'string')
    throw new ToolError(
      'CONFIG',
      `${who}: its document is Swagger ${document['swagger']}, and only OpenAPI 3 is read`,
      { suggestion: 'Convert it: npx swagger2openapi document.json' },
    )
  if (!/^3\.\d/.test(String(document['openapi'])))
    throw new ToolError('CONFIG', `${who}: its document does not say openapi: 3.x`)
  return document
}
