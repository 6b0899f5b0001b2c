import { describe, expect, test } from 'vitest'
import { jsonSchema, tool, workflow } from 'toolable'
import type { Ref, StepsBuilder, Workflow, WorkflowBuilder } from 'toolable'

const list = tool({
  name: 'list',
  summary: 's',
  input: jsonSchema<{ root?: string }>({ type: 'object' }),
  output: jsonSchema<{ path: string; size: number }[]>({ type: 'array' }),
  run: () => [],
})

type Input = {
  root: string
  limit: number
  on: boolean
  deep: { 'a b'?: string; 'c-d': string; it_s: string }
}
const anyInput = jsonSchema<Input>({ type: 'object' })

function write(build: (w: WorkflowBuilder<Input>) => unknown): Promise<Workflow> {
  return workflow({ name: 'tried', input: anyInput }, (w) => {
    w.tool('list', list, {})
    return build(w)
  }).definition()
}

async function outputOf(build: (w: WorkflowBuilder<Input>) => unknown): Promise<unknown> {
  return (await write(build)).output
}

describe('[9.builder-references] a reference', () => {
  test('is its expression as a value, in a text and in JSON', async () => {
    expect(
      await outputOf(({ input }) => ({
        whole: input.root,
        text: `in ${input.root}!`,
        joined: `${input.root}${input.limit}`,
        json: JSON.stringify({ at: input.deep }),
        list: [input.limit, [input.on]],
      })),
    ).toEqual({
      whole: '${{ input.root }}',
      text: 'in ${{ input.root }}!',
      joined: '${{ input.root }}${{ input.limit }}',
      json: '{"at":"${{ input.deep }}"}',
      list: ['${{ input.limit }}', ['${{ input.on }}']],
    })
  })

  test('leads on by fields and positions, whatever they are called', async () => {
    expect(
      await outputOf(({ input, workflow: own }) => [input.deep['c-d'], input.deep['a b'], own.id]),
    ).toEqual(['${{ input.deep.c-d }}', "${{ input.deep['a b'] }}", '${{ workflow.id }}'])
    expect(
      await outputOf((w) => (w.input.deep as unknown as { readonly [key: string]: Ref })["it's\\"]),
    ).toBe("${{ input.deep['it\\'s\\\\'] }}")
    expect(
      await outputOf((w) => {
        const again = w.tool('again', list, {})
        return [
          again.result[0].path,
          again.result[12],
          again.status,
          again.error.message,
          again.runId,
        ]
      }),
    ).toEqual([
      '${{ steps.again.result[0].path }}',
      '${{ steps.again.result[12] }}',
      '${{ steps.again.status }}',
      '${{ steps.again.error.message }}',
      '${{ steps.again.run_id }}',
    ])
  })

  test('is not awaited, not taken apart, not changed', async () => {
    await workflow({ name: 'x', input: anyInput }, (w) => {
      expect((w.input as unknown as { then?: unknown }).then).toBeUndefined()
      expect(() => ({ ...w.input })).toThrow(/cannot be taken apart/)
      expect(() => [...(w.input.deep as unknown as Iterable<unknown>)]).toThrow(TypeError)
      expect(() => Object.assign(w.input, { root: 'x' })).toThrow(/cannot be changed/)
      expect(() => delete (w.input as { root?: unknown }).root).toThrow(/cannot be changed/)
      w.tool('a', list, {})
    }).definition()
  })
})

describe('[9.builder-references] a condition', () => {
  const when = async (build: (w: WorkflowBuilder<Input>) => Ref<boolean>): Promise<unknown> =>
    (await write((w) => void w.tool('last', list, {}, { when: build(w) }))).steps.at(-1)?.when

  test('compares', async () => {
    expect(await when((w) => w.equals(w.input.root, "it's"))).toBe("${{ input.root == 'it\\'s' }}")
    expect(await when((w) => w.differs(w.input.limit, 3))).toBe('${{ input.limit != 3 }}')
    expect(await when((w) => w.equals(w.input.on, true))).toBe('${{ input.on == true }}')
    expect(await when((w) => w.less(w.input.limit, -0.5))).toBe('${{ input.limit < -0.5 }}')
    expect(await when((w) => w.atMost(w.input.limit, 1e21))).toBe('${{ input.limit <= 1e+21 }}')
    expect(await when((w) => w.more(w.input.root, 'a'))).toBe("${{ input.root > 'a' }}")
    expect(await when((w) => w.atLeast(w.input.limit, w.input.limit))).toBe(
      '${{ input.limit >= input.limit }}',
    )
  })

  test('is put together with as many parentheses as it needs', async () => {
    expect(
      await when((w) => w.and(w.input.on, w.equals(w.input.limit, 1), w.not(w.input.on))),
    ).toBe('${{ input.on && input.limit == 1 && !input.on }}')
    expect(await when((w) => w.or(w.and(w.input.on, w.input.on), w.input.on))).toBe(
      '${{ input.on && input.on || input.on }}',
    )
    expect(await when((w) => w.and(w.or(w.input.on, w.input.on), w.input.on))).toBe(
      '${{ (input.on || input.on) && input.on }}',
    )
    expect(await when((w) => w.not(w.or(w.input.on, w.less(w.input.limit, 1))))).toBe(
      '${{ !(input.on || input.limit < 1) }}',
    )
    expect(await when((w) => w.equals(w.not(w.input.on), w.equals(w.input.limit, 1)))).toBe(
      '${{ !input.on == (input.limit == 1) }}',
    )
  })

  test('takes no objects', async () => {
    await expect(
      workflow({ name: 'x' }, (w) => w.equals(w.input as Ref, [] as never)).definition(),
    ).rejects.toThrow(/not with an object/)
    await expect(
      workflow({ name: 'x' }, (w) => w.equals(w.input as Ref, undefined as never)).definition(),
    ).rejects.toThrow(/not with undefined/)
  })
})

describe('[9.builder-scopes] what means nothing is refused while it is written', () => {
  const refuse = (build: (w: WorkflowBuilder<Input>) => unknown): Promise<string> =>
    workflow({ name: 'tried', input: anyInput }, build)
      .definition()
      .then(
        () => 'nothing was refused',
        (error: Error) => error.message,
      )

  test('an item after its each, and a step of it', async () => {
    let item: Ref<string> | undefined
    const leak = (w: WorkflowBuilder<Input>): void =>
      void w.each('each', w.tool('list', list, {}).result, (file, inner) => {
        item = file.path
        inner.tool('inner', list, { root: file.path })
      })
    expect(
      await refuse((w) => {
        leak(w)
        w.tool('after', list, { root: item! })
      }),
    ).toBe(
      "'item.path' is known only in the steps of 'each', and was used in the steps of workflow 'tried'",
    )
    expect(
      await refuse((w) => {
        leak(w)
        return `${item}`
      }),
    ).toMatch(/^'item.path' is known only in/)
    expect(
      await refuse((w) => {
        leak(w)
        return w.not(item!)
      }),
    ).toMatch(/^'item.path' is known only in/)
  })

  test('tasks of one parallel do not see each other, nor does anybody else', async () => {
    expect(
      await refuse((w) =>
        w.parallel('both', (p) => [
          p.tool('a', list, {}),
          p.tool('b', list, { root: p.tool('c', list, {}).result[0].path }),
        ]),
      ),
    ).toMatch(/^'steps.c.result\[0\].path' is known only in task 'c' of the tasks of 'both'/)
    expect(
      await refuse((w) => {
        let task: unknown
        w.parallel('both', (p) => {
          const a = p.tool('a', list, {})
          task = a.result
          return [a]
        })
        return task
      }),
    ).toMatch(/^'steps.a.result' is known only in/)
  })

  test('a value of another workflow', async () => {
    let other: Ref | undefined
    await workflow({ name: 'other' }, (w) => {
      other = w.input as Ref
      w.tool('a', 'x')
    }).definition()
    expect(await refuse(() => ({ other }))).toBe(
      "'input' is a value of workflow 'other' and means nothing in workflow 'tried'",
    )
  })

  test('a builder in another list, or afterwards', async () => {
    expect(await refuse((w) => w.each('each', [1], () => void w.tool('a', list, {})))).toBe(
      "a step for the steps of workflow 'tried' was added inside the steps of 'each'",
    )
    let kept: StepsBuilder | undefined
    await workflow({ name: 'other' }, (w) => {
      kept = w
      w.tool('a', 'x')
    }).definition()
    expect(() => kept!.tool('b', 'x')).toThrow(/workflow 'other' is finished/)
    expect(await refuse(async (w: WorkflowBuilder<Input>) => void w.tool('a', list, {}))).toMatch(
      /is async/,
    )
  })

  test('tasks that are not in the list, foreign ones, and ones that are there twice', async () => {
    expect(
      await refuse((w) =>
        w.parallel('both', (p) => {
          p.tool('a', list, {})
          return [p.tool('b', list, {})]
        }),
      ),
    ).toMatch(/^'a' was added to the tasks of 'both'/)
    expect(
      await refuse((w) =>
        w.parallel('both', (p) => {
          const a = p.tool('a', list, {})
          return [a, a]
        }),
      ),
    ).toMatch(/^task 2 of 'both' is no step that was added there/)
    const outside = (w: WorkflowBuilder<Input>): unknown => {
      const a = w.tool('a', list, {})
      return w.parallel('both', () => [a])
    }
    expect(await refuse(outside)).toMatch(/^task 1 of 'both' is no step that was added there/)
    expect(await refuse((w) => w.parallel('both', (() => undefined) as never))).toMatch(
      /are not a list/,
    )
    expect(
      await refuse((w) =>
        w.each('each', [1], (_item, inner) => {
          const a = inner.tool('a', list, {})
          inner.tool('b', list, {})
          return a
        }),
      ),
    ).toMatch(/gives the results of its last step, 'b'/)
  })

  test('what is no data, with its place', async () => {
    const give = (value: unknown) => refuse((w) => w.tool('a', 'x', { deep: [{ value }] }))
    expect(await give(() => 1)).toBe(
      "the input of 'a'.deep[0].value is a function, which is no JSON",
    )
    expect(await give(NaN)).toBe("the input of 'a'.deep[0].value is NaN, which is no JSON")
    expect(await give(1n)).toMatch(/is a bigint/)
    const circle: unknown[] = []
    circle.push(circle)
    expect(await give(circle)).toMatch(/contains itself$/)
    expect(await refuse((w) => w.tool('b', 'x', { a: w.tool('a', list, {}) }))).toBe(
      "the input of 'b'.a is the step 'a' itself",
    )
    expect(await refuse((w) => w.tool('a', 5 as never))).toMatch(/needs a tool that tool\(\) made/)
  })

  test('options that do not exist', async () => {
    expect(await refuse((w) => w.tool('a', list, {}, { timeut: 2 } as never))).toBe(
      "step 'a' has no option 'timeut'; did you mean 'timeout'?",
    )
    expect(await refuse((w) => w.decision('a', { option: [] } as never))).toBe(
      "step 'a' has no option 'option'; did you mean 'options'?",
    )
    expect(() => workflow({ name: 'x', steps: [] } as never, () => undefined)).toThrow(
      /workflow 'x' has no option 'steps'/,
    )
    expect(() => workflow({ name: 'Not good' }, () => undefined)).toThrow(/for example 'not_good'/)
    expect(() => workflow({ name: 'x' }, undefined as never)).toThrow(
      /takes what it is about and a function/,
    )
    expect(
      await refuse((w) => {
        w.finally(() => undefined)
        w.finally(() => undefined)
      }),
    ).toMatch(/two lists of steps for its end/)
  })
})
