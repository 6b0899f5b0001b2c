import { readFileSync, writeFileSync } from 'node:fs'
import { registry, toolset } from 'toolable'
import type { Toolset } from 'toolable'
import { runCli } from 'toolable/testing'
import { expect, test } from 'vitest'
import { makeFolder } from '../support/run-program.ts'

process.env['XDG_CACHE_HOME'] = makeFolder()

// What stands in golden/ was read by a person. UPDATE_GOLDEN=1 writes it anew: read what has
// changed.
test.each([
  ['type-table', 10],
  ['signatures', 75],
])(
  '%s: schema, help and MCP definition of each signature [3.functions-types] [3.functions-returns] [3.functions-parameters]',
  async (name, least) => {
    const set = await toolset({
      module: new URL(`./fixtures/${name}.ts`, import.meta.url),
      name,
      version: '1.0.0',
      description: 'Signatures',
    })
    const described = await describeAll(set)
    expect(Object.keys(described).length).toBeGreaterThanOrEqual(least)
    const file = new URL(`./golden/${name}.json`, import.meta.url)
    if (process.env['UPDATE_GOLDEN'] === '1')
      writeFileSync(file, `${JSON.stringify(described, null, 1)}\n`)
    expect(described).toEqual(JSON.parse(readFileSync(file, 'utf8')))
  },
)

test('comments: everything that they say [3.functions-comments] [3.functions-examples]', async () => {
  const set = await toolset({
    module: new URL('./fixtures/comments.ts', import.meta.url),
    name: 'comments',
    version: '1.0.0',
  })
  const { tools } = await set.manifest()
  const file = new URL('./golden/comments.json', import.meta.url)
  if (process.env['UPDATE_GOLDEN'] === '1')
    writeFileSync(file, `${JSON.stringify(tools, null, 1)}\n`)
  expect(JSON.parse(JSON.stringify(tools))).toEqual(JSON.parse(readFileSync(file, 'utf8')))
  expect(tools.map(({ name }) => name)).toEqual(['copied', 'moved', 'remove-it', 'wrong'])
})

async function describeAll(set: Toolset): Promise<{ [name: string]: unknown }> {
  const all = await registry({ tools: [set] })
  const definitions = new Map((await all.toMcp()).map((tool) => [tool.name, tool]))
  const entries: [string, unknown][] = []
  for (const { name, inputSchema, outputSchema } of (await set.manifest()).tools) {
    const { stdout } = await runCli(set, [name, '--help'])
    entries.push([
      name,
      {
        input: inputSchema,
        ...(outputSchema && { output: outputSchema }),
        help: helpLines(stdout),
        mcp: definitions.get(name),
      },
    ])
  }
  await all.close()
  return Object.fromEntries(entries)
}

// The usage, and the tool's own arguments and options.
function helpLines(help: string): string[] {
  const lines = help.split('\n')
  const section = (title: string): string[] => {
    const start = lines.indexOf(title)
    return start === -1 ? [] : lines.slice(start + 1, lines.indexOf('', start))
  }
  return [section('Usage')[0]!, ...section('Arguments'), ...section('Options')].map((line) =>
    line.trim().replace(/\s{2,}/g, '  '),
  )
}
