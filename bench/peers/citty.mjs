import { defineCommand, runMain } from 'citty'

await runMain(
  defineCommand({
    meta: { name: 'greet', description: 'Greet somebody' },
    args: {
      name: { type: 'positional', description: 'Whom to greet', required: true },
      loud: { type: 'boolean', default: false },
      times: { type: 'string', default: '1' },
    },
    run: ({ args }) =>
      console.log(
        JSON.stringify({
          text: (args.loud ? 'HELLO ' : 'Hello ') + args.name,
          times: Number(args.times),
        }),
      ),
  }),
)
