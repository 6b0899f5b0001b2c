import type { Shape } from '../../contract/documents/shape.ts'

const text: Shape = { is: 'text' }
const on: Shape = { is: 'switch' }
const texts: Shape = { is: 'list', of: text }
const variables: Shape = { is: 'map', of: { is: 'anything' } }
const listOf = (keys: { readonly [key: string]: Shape }, required: readonly string[]): Shape => ({
  is: 'list',
  of: { is: 'either', short: text, long: { is: 'object', keys, required } },
})

const SERVER: Shape = {
  is: 'object',
  keys: {
    command: text,
    args: { is: 'list', of: { is: 'anything' } },
    env: variables,
    cwd: text,
    url: text,
    headers: variables,
    type: text,
    disabled: on,
    enabled: on,
    timeout: { is: 'anything' },
  },
  // The same entry is read by other programs, which have words of their own.
  open: true,
}

/** What may stand in `toolable.yaml`: the options of `registry()` that are data, and what every program reads there. */
export const CONFIG_SHAPE: Shape = {
  is: 'object',
  keys: {
    name: text,
    version: text,
    description: text,
    folders: listOf({ path: text, name: text, env: variables, help: on, watch: on }, ['path']),
    modules: listOf({ path: text, name: text, functions: on }, ['path']),
    programs: listOf(
      {
        command: text,
        args: texts,
        name: text,
        env: variables,
        only: texts,
        depth: { is: 'count' },
      },
      ['command'],
    ),
    mcpServers: { is: 'map', of: SERVER },
    toolServers: listOf({ url: text, name: text, headers: variables }, ['url']),
    openapi: listOf(
      { document: { is: 'anything' }, name: text, baseUrl: text, headers: variables },
      ['document'],
    ),
    workflows: listOf({ path: text, name: text }, ['path']),
    strict: on,
    cache: { is: 'anything' },
    probe: { is: 'object', keys: { unsandboxed: on, concurrency: { is: 'count' } } },
    settings: { is: 'object', keys: { output: text, timeout: { is: 'anything' } } },
    defaults: { is: 'map', of: { is: 'map', of: { is: 'map', of: { is: 'anything' } } } },
  },
}

/** What counts in a file of another program that lists MCP servers (`.mcp.json`); the rest is not ours. */
export const SERVERS_SHAPE: Shape = { is: 'map', of: SERVER }
