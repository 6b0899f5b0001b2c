import { isObject } from '../../../contract/json.ts'
import type { JsonSchema } from '../../../contract/json.ts'
import type { HttpRequest } from '../../http/exchange.ts'
import type { McpServer } from '../server-type.ts'
import { RPC, RpcError } from '../wire/messages.ts'
import type { Params } from '../wire/messages.ts'
import { META } from '../wire/versions.ts'

/** Which field of the params the header `Mcp-Name` repeats, by method. */
const NAMED_BY: { readonly [method: string]: string } = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
}

/** Checks that the version in the header is the one in the body; throws HeaderMismatch. */
export function checkVersionHeader(request: HttpRequest, params: Params): void {
  const meta = params['_meta']
  const version = isObject(meta) ? meta[META.version] : undefined
  if (typeof version === 'string')
    compare('MCP-Protocol-Version', request.header('mcp-protocol-version'), version)
}

/** Checks the headers that repeat parts of the body for those who only look at headers; throws HeaderMismatch. */
export function checkStandardHeaders(
  request: HttpRequest,
  method: string,
  params: Params,
  known: boolean,
): void {
  compare('Mcp-Method', request.header('mcp-method'), method)
  const field = known && Object.hasOwn(NAMED_BY, method) ? NAMED_BY[method] : undefined
  const name = field === undefined ? undefined : params[field]
  if (typeof name === 'string')
    compare('Mcp-Name', decode('Mcp-Name', request.header('mcp-name')), name)
}

/** Checks the arguments that a tool's schema wants repeated in headers; throws HeaderMismatch. */
export async function checkParamHeaders(
  server: McpServer,
  request: HttpRequest,
  params: Params,
): Promise<void> {
  const tool = typeof params['name'] === 'string' ? server.source.find(params['name']) : undefined
  if (!tool) return
  const mirrored = (mirrors.get(tool) ??
    mirrors
      .set(tool, mirroredFields(tool.written().input ?? (await tool.manifest()).inputSchema))
      .get(tool))!
  for (const { header, path } of mirrored) {
    const value = path.reduce<unknown>(
      (inner, key) => (isObject(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined),
      params['arguments'],
    )
    const name = `Mcp-Param-${header}`
    const given = decode(name, request.header(name.toLowerCase()))
    if (value === undefined || value === null) {
      if (given !== undefined)
        throw mismatch(`${name} is given, but the argument ${path.join('.')} is not`)
    } else if (typeof value !== 'number' || given === undefined || Number(given) !== value)
      compare(name, given, String(value))
  }
}

type Mirrored = { readonly header: string; readonly path: readonly string[] }
const mirrors = new WeakMap<object, readonly Mirrored[]>()

function mirroredFields(schema: JsonSchema, path: readonly string[] = []): Mirrored[] {
  if (!isObject(schema['properties'])) return []
  return Object.entries(schema['properties']).flatMap(([key, property]) => {
    if (!isObject(property)) return []
    const header = property['x-mcp-header']
    return [
      ...(typeof header === 'string' ? [{ header, path: [...path, key] }] : []),
      ...mirroredFields(property, [...path, key]),
    ]
  })
}

function compare(name: string, given: string | undefined, expected: string): void {
  if (given === undefined) throw mismatch(`the header ${name} is missing`)
  if (given !== expected)
    throw mismatch(
      `the header ${name} says '${given.slice(0, 100)}', the body '${expected.slice(0, 100)}'`,
    )
}

// What a header cannot carry as it is comes as =?base64?…?=.
function decode(name: string, value: string | undefined): string | undefined {
  const encoded = value === undefined ? null : /^=\?base64\?(.*)\?=$/.exec(value)
  if (!encoded) return value
  const bytes = Buffer.from(encoded[1]!, 'base64')
  if (bytes.toString('base64') !== encoded[1])
    throw mismatch(`the header ${name} is not valid base64`)
  return bytes.toString('utf8')
}

function mismatch(problem: string): RpcError {
  return new RpcError(RPC.headerMismatch, `Header mismatch: ${problem}`)
}
