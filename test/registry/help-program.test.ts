import { chmodSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { registry } from 'toolable'
import type { Registry, RegistryOptions } from 'toolable'
import { describe, expect, test } from 'vitest'
import { describeProgram } from '../../src/registry/help/run-help.ts'
import { makeFolder } from '../support/run-program.ts'
import { withoutSlow } from '../support/problems.ts'

const fixture = (name: string): string =>
  fileURLToPath(new URL(`../fixtures/programs/${name}`, import.meta.url))

async function open(
  programs: RegistryOptions['programs'],
  folder = makeFolder(),
): Promise<Registry> {
  return registry({ cwd: folder, cache: join(folder, 'cache'), programs: programs! })
}

describe('[6.help-program] programs as tools', () => {
  test('one tool for each command, called with flags that cannot be made from values', async () => {
    const reg = await open([fixture('packs-things.py')])
    expect(withoutSlow(reg.problems())).toEqual([])
    expect(reg.list()).toMatchObject([
      {
        id: 'packs-things.pack',
        kind: 'program by its help',
        tier: 'executable',
        summary: 'Pack some files.',
      },
      { id: 'packs-things.count' },
    ])
    const { manifest } = await reg.describe('pack')
    expect(manifest.inputSchema).toMatchObject({
      additionalProperties: false,
      required: ['target'],
      properties: {
        target: { type: 'string' },
        level: { type: 'string', enum: ['low', 'high'] },
        max_size: { type: 'integer' },
        label: { type: 'array' },
        output: { type: 'string' },
        dry_run: { type: 'boolean' },
      },
    })
    const outcome = await reg.call('pack', {
      target: '--level',
      label: ['--x', 'y'],
      max_size: 3,
      output: '-o',
      dry_run: true,
    })
    const said: unknown = JSON.parse(textOf(outcome))
    expect(said).toEqual({
      command: 'pack',
      target: '--level',
      level: 'low',
      max_size: 3,
      label: ['--x', 'y'],
      output: '-o',
      dry_run: true,
    })
    expect(await reg.call('pack', { target: 'x', level: 'middle' })).toMatchObject({
      ok: false,
      error: { code: 'INVALID_INPUT', field: 'level' },
    })
    await reg.close()
  })

  test('what is known is read from the cache until the file changes', async () => {
    const folder = makeFolder()
    const program = join(folder, 'says.sh')
    const write = (flag: string): void => {
      writeFileSync(program, `#!/bin/sh\necho "usage: says [--${flag}] word"\n`)
      chmodSync(program, 0o755)
      utimesSync(program, 1, 1)
    }
    const fields = async (): Promise<string[]> => {
      const reg = await open([program], folder)
      const { input } = await reg.schema('says')
      await reg.close()
      return Object.keys(input['properties'] as object)
    }
    write('one')
    expect(await fields()).toEqual(['one', 'word'])
    expect(readdirSync(join(folder, 'cache'))).toHaveLength(1)
    expect(await fields()).toEqual(['one', 'word'])
    write('another')
    expect(await fields()).toEqual(['another', 'word'])
  })

  test('only the commands that are wanted, and as deep as is wanted', async () => {
    const reg = await open([{ command: 'git', only: ['log', 'remote add'] }])
    expect(reg.list().map(({ id }) => id)).toEqual(['git.log', 'git.remote_add'])
    await reg.close()
  })

  test('a program that is not there or says nothing is a problem with a way out', async () => {
    const reg = await open(['no-such-program', './nowhere', fixture('has-no-help.sh')])
    expect(reg.list()).toEqual([])
    expect(withoutSlow(reg.problems())).toMatchObject([
      { reason: 'missing', message: "there is no program 'no-such-program' on the PATH" },
      { reason: 'missing', message: expect.stringContaining('nowhere') },
      { reason: 'no-help', fix: expect.stringContaining('--help') },
    ])
    await reg.close()
  })
})

describe('[6.help-program] asking for help', () => {
  const HELP: { readonly [asked: string]: string } = {
    '--help': 'Usage: p [command]\n\nCommands:\n  a  first\n  b  second\n  help  more',
    'a -h': 'Usage: p a [--x]',
    'b --help': 'Usage: p [command]\n\nCommands:\n  a  first\n  b  second\n  help  more',
    'help b': 'Usage: p b FILE',
  }
  test('the next question is asked where one brings nothing new, and never more than is allowed', async () => {
    const asked: string[] = []
    const run = async (args: readonly string[]): Promise<string> => {
      asked.push(args.join(' '))
      return HELP[args.join(' ')] ?? ''
    }
    const root = await describeProgram(run, { depth: 3, most: 10 })
    expect(root!.children.map(({ path, help }) => [path.join(' '), help.document.usage])).toEqual([
      ['a', 'p a [--x]'],
      ['b', 'p b FILE'],
    ])
    asked.length = 0
    expect((await describeProgram(run, { depth: 3, most: 1 }))!.children).toHaveLength(1)
    expect(asked).toContain('--help')
    expect(await describeProgram(async () => '', { depth: 1, most: 5 })).toBeUndefined()
  })
})

/** What the program printed. */
function textOf(outcome: unknown): string {
  const { result } = outcome as { readonly result: unknown }
  return typeof result === 'string' ? result : JSON.stringify(result)
}
