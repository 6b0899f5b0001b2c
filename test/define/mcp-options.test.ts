import { describe, expect, test } from 'vitest'
import { call, fail, protocolError, tool, ToolError, toolset } from 'toolable'

describe('[3.mcp-options] the option mcp', () => {
  test('stands in the manifest, also of a renamed tool, and nowhere without it', async () => {
    const mcp = { task: 'required', text: false, meta: { 'example.com/icon': 'x' } } as const
    const served = tool({ name: 'served', summary: 'S', mcp, run: () => 1 })
    expect(await served.manifest()).toMatchObject({ mcp })
    expect(
      (await toolset({ name: 'prog' }).add(served, 'other').manifest()).tools[0],
    ).toMatchObject({ name: 'other', mcp })
    expect(await tool({ name: 'plain', summary: 'S', run: () => 1 }).manifest()).not.toHaveProperty(
      'mcp',
    )
  })

  test.each<[string, unknown, string]>([
    ['no object', 'auto', "'mcp' of tool 'x' must be an object: { task, taskAfter, text, meta }"],
    ['null', null, "'mcp' of tool 'x' must be an object"],
    [
      'an unknown option',
      { tasks: 'auto' },
      "'mcp' of tool 'x' has no option 'tasks'; did you mean 'task'?",
    ],
    [
      'an unknown policy',
      { task: 'always' },
      "'task' in 'mcp' of tool 'x' must be one of never, auto, required, not \"always\"",
    ],
    ['a text for text', { text: 'no' }, "'text' in 'mcp' of tool 'x' must be true or false"],
    ['a list as meta', { meta: [] }, "'meta' in 'mcp' of tool 'x' must be an object"],
  ])('%s is CONFIG', (_what, mcp, message) => {
    const define = () => tool({ name: 'x', summary: 'X', mcp: mcp as never, run: () => 1 })
    expect(define).toThrow(ToolError)
    expect(define).toThrow(message)
  })
})

describe('[3.protocol-error] protocolError', () => {
  const caught = (run: () => never): ToolError => {
    try {
      return run()
    } catch (error) {
      return error as ToolError
    }
  }

  test('carries the number and the data', () => {
    expect(caught(() => protocolError(-32602, 'bad cursor', [1]))).toMatchObject({
      code: 'E_PROTOCOL',
      message: 'bad cursor',
      category: 'runtime',
      recoverable: false,
      retryable: false,
      details: { code: -32602, data: [1] },
    })
    expect(caught(() => protocolError(5, 'x')).details).toEqual({ code: 5 })
    expect(caught(() => protocolError(5, 'x', null)).details).toEqual({ code: 5, data: null })
  })

  test('of something that is no whole number is CONFIG', () => {
    for (const code of [NaN, 1.5, Infinity, '5', undefined])
      expect(caught(() => protocolError(code as number, 'x'))).toMatchObject({
        code: 'CONFIG',
        message: expect.stringContaining('needs an integer, such as -32602'),
      })
  })

  test('fails a call like any other code, and data that JSON cannot carry does not hide it', async () => {
    expect(
      await call(tool({ name: 'x', summary: 'X', run: () => protocolError(-1, 'm', new Map()) })),
    ).toMatchObject({ ok: false, error: { code: 'E_PROTOCOL', message: 'm' } })
    expect(
      await call(tool({ name: 'x', summary: 'X', run: () => fail('E_PROTOCOL', 'm') })),
    ).toMatchObject({ ok: false, error: { code: 'E_PROTOCOL' } })
  })
})
