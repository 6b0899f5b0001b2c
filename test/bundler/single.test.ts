import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { bin, build, run } from '../support/build.ts'
import { launch, makeFolder, sourceOf } from '../support/run-program.ts'
import type { Ended } from '../support/run-program.ts'
import '../support/without-coverage.ts'

const [alone, usual] = [makeFolder(), makeFolder()]
const shop = join(alone, 'shop')
// Neither node nor anything else is found.
const nowhere = { PATH: '/nonexistent' }
const withoutTime = ({ status, stdout, stderr }: Ended): unknown => [
  status,
  stdout.replace(/("duration_ms":)\d+/g, '$10'),
  stderr,
]

beforeAll(async () => {
  const built = await Promise.all([build('shop.ts', alone, '--single'), build('shop.ts', usual)])
  expect(built.map(({ status }) => status)).toEqual([0, 0])
}, 300_000)

describe('one executable', () => {
  test('needs nothing else, and says what the program beside its bundle says [11.build-single]', async () => {
    expect(readdirSync(alone).toSorted()).toEqual(['shop', 'shop.licences.txt'])
    expect(statSync(shop).mode & 0o111).not.toBe(0)
    for (const words of [
      [],
      ['--help'],
      ['--version'],
      ['--discover'],
      ['--manifest'],
      ['order', '--help'],
      ['order', '{"item":"hat"}'],
      ['order', '--item', 'hat'],
      ['pr', 'normal', '{"name":" ada "}'],
      ['pr', 'normal', '{"name":"nobody"}'],
      ['order', '{"item":""}'],
      ['nosuch'],
      ['docs', 'markdown'],
    ]) {
      const [single, wanted] = await Promise.all([
        run(shop, words, { env: nowhere }),
        run(join(usual, 'shop'), words),
      ])
      expect([words, withoutTime(single)]).toEqual([words, withoutTime(wanted)])
    }
  })

  test('serves, uses its compiled code, and is what an agent is told to start [11.build-single]', async () => {
    const place = makeFolder()
    const hello =
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}\n{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"order","arguments":{"item":"hat"}}}\n'
    const [served, called, added] = await Promise.all([
      run(shop, ['--serve-mcp', 'stdio'], { env: nowhere, input: hello }),
      run(shop, ['order', '{"item":"hat"}'], {
        env: {
          ...nowhere,
          LOADED: join(place, 'loaded'),
          NODE_OPTIONS: `--require ${sourceOf('build/tells-what-was-loaded.cjs')}`,
        },
      }),
      // By a relative name, from another folder.
      run('./shop', ['mcp', 'add', '--agent', 'cursor', '--scope', 'project', '--yes', '--json'], {
        cwd: alone,
      }),
    ])
    expect([served.lines[0].result.serverInfo.name, JSON.stringify(served.lines[1])]).toEqual([
      'shop',
      expect.stringContaining('ordered hat'),
    ])
    expect(called.json.result.zod).toBe(false)
    expect(JSON.parse(readFileSync(join(place, 'loaded'), 'utf8')).scripts).toEqual([
      { file: expect.stringMatching(/\.bundle$/), cached: true },
    ])
    expect([
      added.status,
      JSON.parse(readFileSync(join(alone, '.cursor', 'mcp.json'), 'utf8')).mcpServers.shop,
    ]).toEqual([0, expect.objectContaining({ command: shop })])
  })

  test.each([
    [{ platform: 'darwin' }, 78, /on Linux only so far; this is darwin/, /without --single/],
    [{ execPath: '/bin/sh' }, 78, /\/bin\/sh cannot become part of a program/, /nodejs\.org/],
    [
      { missing: 'postject' },
      69,
      /needs the package 'postject'/,
      /npm install --save-dev postject/,
    ],
  ])(
    'is refused at once where it cannot be made: %o [11.build-single]',
    async (pretended, status, message, advice) => {
      const out = makeFolder()
      const { json, ...end } = await launch(
        process.execPath,
        [
          '--require',
          sourceOf('build/pretends.cjs'),
          bin,
          'build',
          sourceOf('build/shop.ts'),
          '--out',
          out,
          '--single',
        ],
        { env: { PRETEND: JSON.stringify(pretended) } },
      ).ended
      expect([
        end.status,
        json.error.message,
        JSON.stringify(json.error.suggestion),
        readdirSync(out),
      ]).toEqual([status, expect.stringMatching(message), expect.stringMatching(advice), []])
    },
  )
})
