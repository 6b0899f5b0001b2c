import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { execFileSync } from 'node:child_process'
import { afterAll, describe, expect, test } from 'vitest'
import { makeFolder } from '../support/run-program.ts'
import { sdk } from './clients/drivers.mjs'
import { initialize, modern, openRaw } from './support/raw-stdio.ts'
import { stdioTarget } from './support/target.ts'

const raw = openRaw('asks-and-leaves.mjs')
afterAll(() => raw.end())
const call = (name: string, input: object = {}, meta: object = {}) =>
  raw.ask('tools/call', modern({ name, arguments: input }, {}, meta))
const read = (uri: string) => raw.ask('resources/read', modern({ uri }))

describe('results that clients check [5.mcp-results]', () => {
  test.each<'legacy' | 'auto'>(['legacy', 'auto'])(
    'the SDK accepts the plan of a dry run and the result, %s',
    async (mode) => {
      const client = await sdk(mode)(stdioTarget('asks-and-leaves.mjs'))
      await client.list()
      expect((await client.call('plan', { dry_run: true })).structuredContent).toEqual({
        plan: [{ action: 'write', target: 'a.txt' }],
      })
      expect((await client.call('plan', {})).structuredContent).toEqual({ done: 1 })
      await client.close()
    },
  )

  test('a host that knows us asks for a plan, and for less time than the operator allows, never more', async () => {
    const strict = openRaw('asks-and-leaves.mjs', ['--timeout', '500ms'])
    const slow = async (timeout: string | number) =>
      await strict.ask(
        'tools/call',
        modern(
          { name: 'slow', arguments: { ms: 2000 } },
          {},
          { 'dev.toolable/options': { timeout } },
        ),
      )
    expect(JSON.parse((await slow('1h')).result.content[0].text)).toMatchObject({
      error: { code: 'TIMEOUT', message: expect.stringContaining('0.5 seconds') },
    })
    expect(JSON.parse((await slow('100ms')).result.content[0].text)).toMatchObject({
      error: { code: 'TIMEOUT', message: expect.stringContaining('0.1 seconds') },
    })
    expect((await slow('banana')).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining("'banana' is not a duration"),
    })
    expect(
      (
        await strict.ask(
          'tools/call',
          modern({ name: 'slow', arguments: {} }, {}, { 'dev.toolable/options': { dryRun: true } }),
        )
      ).result.structuredContent,
    ).toMatchObject({ dry_run: true })
    await strict.end()
  })
})

describe('files that tools leave behind [5.mcp-results]', () => {
  test('small texts are embedded, others linked, and all can be read by their address', async () => {
    const small = (await call('leave', { name: 'a.txt' })).result
    expect(small.content).toMatchObject([
      { text: 'Left it' },
      { type: 'text' },
      { type: 'resource', resource: { mimeType: 'text/plain', text: 'xxxxx' } },
    ])
    const big = (await call('leave', { name: 'b.bin', bytes: 50_000 })).result
    expect(big.content[2]).toMatchObject({ type: 'resource_link', name: 'b.bin', size: 50_000 })
    const { result } = await read(big.content[2].uri as string)
    expect(Buffer.from(result.contents[0].blob as string, 'base64')).toHaveLength(50_000)
  })

  test('no other file can be read, however its address is written', async () => {
    const { uri } = (await call('leave', { name: 'c.bin' })).result.content[2]
    const folder = uri.slice(0, uri.lastIndexOf('/'))
    for (const other of [
      'file:///etc/passwd',
      `${folder}/../../etc/passwd`,
      `${folder}/c.bin/../d.bin`,
      `${uri}/`,
      `${uri}?x`,
      uri.replace('c.bin', '%63.bin'),
      '/etc/passwd',
      folder,
    ]) {
      expect((await read(other)).error, other).toMatchObject({ code: -32602, data: { uri: other } })
    }
  })

  test.each<[what: string, make: (path: string) => void]>([
    ['is gone', () => undefined],
    ['is a folder', (path) => mkdirSync(path)],
    ['is a pipe that nobody writes into', (path) => execFileSync('mkfifo', [path])],
    ['is a link to nothing', (path) => symlinkSync('/nowhere', path)],
    ['is far too big', (path) => execFileSync('truncate', ['-s', '1G', path])],
  ])('a file that %s is told in words', async (_what, make) => {
    const path = join(makeFolder(), 'thing.bin')
    make(path)
    const uri = pathToFileURL(path).href
    expect((await call('point', { uri })).result.content.at(-1)).toMatchObject({
      type: 'resource_link',
      uri,
    })
    expect((await read(uri)).error).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/^the file /),
      data: { uri },
    })
    rmSync(path, { recursive: true, force: true })
  })

  test.each(['https://example.com/x', 'file://elsewhere/x', 'nonsense'])(
    '%s is a link that this server does not read',
    async (uri) => {
      expect((await call('point', { uri })).result.content.at(-1)).toEqual({
        type: 'resource_link',
        uri,
        name: 'thing',
      })
      expect((await read(uri)).error).toMatchObject({ code: -32602 })
    },
  )

  test('only the newest thousand are remembered', async () => {
    const path = join(makeFolder(), 'first.txt')
    writeFileSync(path, 'first')
    const uri = pathToFileURL(path).href
    await call('point', { uri })
    expect((await read(uri)).result.contents).toMatchObject([{ text: 'first' }])
    await Promise.all(
      Array.from({ length: 1000 }, (_, index) =>
        call('point', { uri: `file:///nowhere/${index}` }),
      ),
    )
    expect((await read(uri)).error).toMatchObject({ code: -32602 })
  })
})

test('an address that an author lists twice is listed once, so that pages come to an end [5.mcp-pages]', async () => {
  const paged = openRaw('asks-and-leaves.mjs', ['--page-size', '1'])
  await initialize(paged)
  const uris: string[] = []
  let cursor: string | undefined
  do {
    const { result } = await paged.ask('resources/list', cursor === undefined ? {} : { cursor })
    uris.push(...result.resources.map(({ uri }: { uri: string }) => uri))
    cursor = result.nextCursor
  } while (cursor !== undefined && uris.length < 50)
  expect(uris).toHaveLength(new Set(uris).size)
  expect(uris.filter((uri) => uri.startsWith('twice:'))).toEqual([
    'twice://a',
    'twice://b',
    'twice://c',
  ])
  await paged.end()
})
