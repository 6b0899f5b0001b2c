#!/usr/bin/env node
// The functions of another module as a toolset of this program; checks itself.
import { strictEqual } from 'node:assert'
// region toolset
import { toolset } from 'toolable'

const files = await toolset({
  module: new URL('./tools.ts', import.meta.url),
  name: 'files',
  version: '1.0.0',
})
const outcome = await files.call('sum', { numbers: [1, 2, 3] })
// endregion

strictEqual(outcome.ok && outcome.result, 6)
console.log(files.entries.map(({ name }) => name).join(' '))
const refused = await files.call('find_files', { ending: '.ts', since: 'yesterday' })
console.log(refused.ok ? refused.result : refused.error.message)
