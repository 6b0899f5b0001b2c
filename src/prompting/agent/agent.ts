import { tool } from '../../call/tool.ts'
import type { Agent, AgentOptions } from './agent-type.ts'
import { checkAgent, checkRun } from './check-options.ts'

/** A model with tools: it works on a task until it needs no more calls. What it needs is loaded when the first run starts. Throws CONFIG for options that make no sense. */
export function agent(options: AgentOptions): Agent {
  checkAgent(options)
  const { name = 'agent' } = options
  const run: Agent['run'] = async (task, how = {}) => {
    checkRun(task, how)
    return (await import('./run-agent.ts')).runAgent(options, task, how)
  }
  return {
    name,
    run,
    async *stream(task, how = {}) {
      const { streamAgent } = await import('./stream-agent.ts')
      yield* streamAgent(
        ({ signal, onEvent }) =>
          run(task, {
            ...how,
            signal,
            onEvent: (event) => {
              onEvent(event)
              return (how.onEvent ?? options.onEvent)?.(event)
            },
          }),
        how.signal,
      )
    },
    asTool: (named) =>
      tool({
        ...named,
        input: {
          type: 'object',
          properties: {
            task: {
              type: 'string',
              minLength: 1,
              description: 'What is to be done, with everything that has to be known for it',
            },
          },
          required: ['task'],
          additionalProperties: false,
        } as const,
        async run(given, ctx) {
          const { answerOf, optionsInside } = await import('./as-tool.ts')
          const inside = optionsInside(ctx)
          const { answer, budget, onEvent } = options
          return answerOf(
            await run((given as { readonly task: string }).task, {
              ...inside,
              ...(answer && { answer }),
              ...(!budget && ctx.budget && { budget: ctx.budget }),
              onEvent: (event) => {
                inside.onEvent(event)
                return onEvent?.(event)
              },
            }),
          )
        },
      }),
  }
}
