import { expect, test } from 'vitest'
import { tool, toolset } from '../../../src/index.ts'
import { createToolCatalogue, createToolsetSource } from '../../../src/mcp/source.ts'
import { createProgressiveSource } from '../../../src/mcp/progressive.ts'

test('[5.mcp-progressive] the door warns of what stands behind it now, tools that came later included', async () => {
  const set = toolset({
    name: 'many',
    tools: [tool({ name: 'look', summary: 'Look', run: () => 1 })],
  })
  const source = createProgressiveSource(createToolsetSource(set))
  const catalogue = createToolCatalogue(source)
  const hint = async () =>
    (
      (await catalogue.list('modern')).find(({ name }) => name === 'run_tool')!['annotations'] as {
        readonly destructiveHint: boolean
      }
    ).destructiveHint
  expect([await hint(), source.description]).toEqual([
    false,
    expect.stringContaining('There are 1 tools'),
  ])
  set.add(tool({ name: 'wipe', summary: 'Wipe', annotations: { destructive: true }, run: () => 2 }))
  expect([await hint(), source.description]).toEqual([
    true,
    expect.stringContaining('There are 2 tools'),
  ])
  set.remove('wipe')
  expect(await hint()).toBe(false)
})
