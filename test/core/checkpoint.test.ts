import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { call, tool } from 'toolable'
import type { Checkpoint } from 'toolable'
import { makeFolder } from '../support/run-program.ts'

const using = (stage: string, use: (checkpoint: Checkpoint) => unknown) =>
  tool({
    name: 'goes_on',
    summary: 'Goes on',
    run: (_input, ctx) => use(ctx.checkpoint(stage)) as never,
  })

describe('checkpoints', () => {
  test('[3.context-checkpoint] what was saved is loaded, by a later call too', async () => {
    const cwd = makeFolder()
    await expect(
      using('scan', (checkpoint) => checkpoint.load())({}, { cwd }),
    ).resolves.toBeUndefined()
    await using('scan', (checkpoint) => checkpoint.save({ done: ['a'], n: 1 }))({}, { cwd })
    await expect(using('scan', (checkpoint) => checkpoint.load())({}, { cwd })).resolves.toEqual({
      done: ['a'],
      n: 1,
    })
    await expect(
      using('other', (checkpoint) => checkpoint.load())({}, { cwd }),
    ).resolves.toBeUndefined()
    expect(JSON.parse(readFileSync(join(cwd, '.checkpoints', 'scan.json'), 'utf8'))).toEqual({
      stage: 'scan',
      data: { done: ['a'], n: 1 },
    })
  })

  test('[3.context-checkpoint] WORKSPACE is the place where it is set', async () => {
    const [cwd, workspace] = [makeFolder(), makeFolder()]
    await using('scan', (checkpoint) => checkpoint.save(5))(
      {},
      { cwd, env: { WORKSPACE: workspace } },
    )
    expect([readdirSync(cwd), readdirSync(join(workspace, '.checkpoints'))]).toEqual([
      [],
      ['scan.json'],
    ])
  })

  test('[3.context-checkpoint] saving at the same time leaves one whole file and nothing else', async () => {
    const cwd = makeFolder()
    await using('scan', async (checkpoint) => {
      await Promise.all(
        Array.from({ length: 20 }, (_, index) => checkpoint.save('x'.repeat(10_000) + index)),
      )
    })({}, { cwd })
    expect(readdirSync(join(cwd, '.checkpoints'))).toEqual(['scan.json'])
    await expect(
      using('scan', (checkpoint) => checkpoint.load<string>())({}, { cwd }),
    ).resolves.toMatch(/^x{10000}\d+$/)
  })

  test('[3.context-checkpoint] what cannot be saved leaves the old one', async () => {
    const cwd = makeFolder()
    await using('scan', (checkpoint) => checkpoint.save('old'))({}, { cwd })
    expect(
      await call(
        using('scan', (checkpoint) => checkpoint.save({ n: 1n })),
        {},
        { cwd },
      ),
    ).toMatchObject({ ok: false })
    await expect(using('scan', (checkpoint) => checkpoint.load())({}, { cwd })).resolves.toBe('old')
    expect(readdirSync(join(cwd, '.checkpoints'))).toEqual(['scan.json'])
  })

  test.each([
    ['half', '{"stage":"scan","da'],
    ['of another stage', '{"stage":"load","data":1}'],
    ['no object', '5'],
    ['null', 'null'],
    ['empty', ''],
  ])(
    '[3.context-checkpoint] one that is %s is PRECONDITION and says what to do',
    async (_what, text) => {
      const cwd = makeFolder()
      mkdirSync(join(cwd, '.checkpoints'))
      writeFileSync(join(cwd, '.checkpoints', 'scan.json'), text)
      expect(
        await call(
          using('scan', (checkpoint) => checkpoint.load()),
          {},
          { cwd },
        ),
      ).toMatchObject({
        error: {
          code: 'PRECONDITION',
          message: expect.stringMatching(/scan\.json is damaged: remove it to start over$/),
        },
      })
    },
  )

  test.each([
    ['../evil'],
    ['a/b'],
    ['..'],
    ['.hidden'],
    [''],
    ['a\0b'],
    ['x'.repeat(101)],
    ['a b'],
    [undefined],
  ])('[3.context-checkpoint] the stage %j is refused', async (stage) => {
    const cwd = makeFolder()
    expect(
      await call(
        using(stage as string, (checkpoint) => checkpoint.save(1)),
        {},
        { cwd },
      ),
    ).toMatchObject({ error: { code: 'INVALID_INPUT' } })
    expect([
      existsSync(join(cwd, '.checkpoints')),
      existsSync(join(cwd, '..', 'evil.json')),
    ]).toEqual([false, false])
  })
})
