/**
 * Reads an OpenAPI document: file, URL or object, its operations and local references.
 */

import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { ToolError } from '../../protocol/tool-error.ts'
import { quoteForShell } from '../../util/text.ts'
import { MEBIBYTE } from '../../util/units.ts'
import type { JsonObject } from '../../util/values.ts'
import { asList, asObject, asText, isObject } from '../../util/values.ts'
import { sendRequest } from '../http.ts'
import { toFreeName } from '../names.ts'
import type { LoadContext } from '../source.ts'

const DOCUMENT_TIMEOUT_MS = 10_000
const MAX_JSON_BYTES = 16 * MEBIBYTE
const MAX_YAML_LENGTH = 4 * MEBIBYTE

/**
 * Reads an OpenAPI document: the object itself, a file, or an address, as JSON or YAML. `from` is
 * that address. Throws ToolError.
 */
export async function readApiDocument(
  given: string | JsonObject,
  headers: { readonly [name: string]: string },
  { cwd, signal }: Pick<LoadContext, 'cwd' | 'signal'>,
  who: string,
): Promise<{ readonly document: JsonObject; readonly from?: URL }> {
  if (typeof given !== 'string') return { document: checkDocument(given, who) }
  if (!/^https?:\/\//i.test(given)) {
    const text = await readDocumentFile(resolve(cwd, given), who)
    return { document: checkDocument(await parseDocument(text, who), who) }
  }
  const from = new URL(given)
  const { status, bytes } = await sendRequest({
    url: from,
    method: 'GET',
    headers: { accept: 'application/json, application/yaml;q=0.9, */*;q=0.5', ...headers },
    signal,
    timeout: DOCUMENT_TIMEOUT_MS,
    who,
  })
  if (status >= 300)
    throw new ToolError(
      'DEPENDENCY',
      `${who}: its document was answered with HTTP status ${status}`,
      { suggestion: `Try it by hand: curl -i ${from.origin}${from.pathname}` },
    )
  return { document: checkDocument(await parseDocument(bytes.toString('utf8'), who), who), from }
}

async function readDocumentFile(path: string, who: string): Promise<string> {
  try {
    const { size } = await stat(path)
    if (size <= MAX_JSON_BYTES) return await readFile(path, 'utf8')
  } catch (error) {
    throw new ToolError(
      'CONFIG',
      `${who}: its document cannot be read: ${(error as Error).message}`,
      { suggestion: `Look whether it is there: ls -l ${quoteForShell(path)}`, cause: error },
    )
  }
  throw new ToolError('CONFIG', `${who}: ${path} has more than ${MAX_JSON_BYTES / MEBIBYTE} MiB`)
}

async function parseDocument(text: string, who: string): Promise<unknown> {
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
  if (bare.length > MAX_YAML_LENGTH)
    throw new ToolError(
      'CONFIG',
      `${who}: its document has more than ${MAX_YAML_LENGTH / MEBIBYTE} MiB of YAML`,
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

function checkDocument(document: unknown, who: string): JsonObject {
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

const HTTP_METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options', 'trace'] as const
const MAX_OPERATIONS = 2000

/** One operation of a document. */
export type ApiOperation = {
  /** Its `operationId`, else made of method and path; unique. */
  readonly name: string
  readonly method: (typeof HTTP_METHODS)[number]
  readonly path: string
  readonly facts: JsonObject
  /** The parameters of the path and its own, references followed; its own win. */
  readonly parameters: readonly JsonObject[]
  readonly servers: unknown
}

/** The operations of a document, in its order. */
export function listOperations(document: JsonObject): readonly ApiOperation[] {
  const taken = new Set<string>()
  const found: ApiOperation[] = []
  for (const [path, given] of Object.entries(asObject(document['paths']) ?? {})) {
    const item = path.startsWith('/') ? resolveRef(document, given) : undefined
    for (const method of HTTP_METHODS) {
      const facts = item && Object.hasOwn(item, method) ? item[method] : undefined
      if (!item || !isObject(facts) || found.length >= MAX_OPERATIONS) continue
      const id = asText(facts['operationId']) ?? ''
      const wanted = id.trim() === '' ? toOperationName(method, path) : id
      const name = toFreeName(wanted, (other) => taken.has(other))
      taken.add(name)
      found.push({
        name,
        method,
        path,
        facts,
        parameters: mergeParameters(document, item['parameters'], facts['parameters']),
        servers: facts['servers'] ?? item['servers'],
      })
    }
  }
  return found
}

/** `GET /users/{id}/posts` is `get_users_by_id_posts`. */
function toOperationName(method: string, path: string): string {
  const words = path
    .split('/')
    .filter((part) => part !== '')
    .map((part) =>
      part
        .replace(/\{([^}]*)\}/g, '_by_$1_')
        .replace(/[^A-Za-z0-9_]+/g, '_')
        .replace(/^_+|_+$/g, ''),
    )
  return [method, ...words].join('_').replace(/_{2,}/g, '_')
}

function mergeParameters(
  document: JsonObject,
  shared: unknown,
  own: unknown,
): readonly JsonObject[] {
  const merged = new Map<string, JsonObject>()
  for (const given of [...asList(shared), ...asList(own)]) {
    const parameter = resolveRef(document, given)
    if (parameter && typeof parameter['name'] === 'string' && typeof parameter['in'] === 'string')
      merged.set(`${parameter['in']} ${parameter['name']}`, parameter)
  }
  return [...merged.values()]
}

/** The security schemes of a document, references followed. */
export function listSecuritySchemes(document: JsonObject): readonly JsonObject[] {
  const components = resolveRef(document, document['components'])
  const schemes = resolveRef(document, components?.['securitySchemes']) ?? {}
  return Object.values(schemes)
    .map((scheme) => resolveRef(document, scheme))
    .filter((scheme) => scheme !== undefined)
}

const MAX_REF_CHAIN = 20

/**
 * The target of a local reference (`#/components/...`). Undefined for one that leads nowhere or
 * out of the document: remote ones are never fetched.
 */
export function followPointer(document: JsonObject, ref: string): unknown {
  if (!ref.startsWith('#/')) return undefined
  let value: unknown = document
  for (const part of ref.slice(2).split('/')) {
    const key = decodePointerPart(part)
    if (Array.isArray(value)) value = value[Number(key)]
    else if (isObject(value) && Object.hasOwn(value, key)) value = value[key]
    else return undefined
  }
  return value
}

/** An object of the document, its reference followed. Undefined for other values. */
export function resolveRef(document: JsonObject, value: unknown): JsonObject | undefined {
  let found = value
  for (let count = 0; count < MAX_REF_CHAIN; count += 1) {
    if (!isObject(found)) return undefined
    const ref = Object.hasOwn(found, '$ref') ? found['$ref'] : undefined
    if (typeof ref !== 'string') return found
    found = followPointer(document, ref)
  }
  return undefined
}

function decodePointerPart(part: string): string {
  const plain = part.replaceAll('~1', '/').replaceAll('~0', '~')
  try {
    return decodeURIComponent(plain)
  } catch {
    return plain
  }
}
