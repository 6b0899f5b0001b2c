import { Command } from 'commander'

await new Command('greet')
  .description('Greet somebody')
  .argument('<name>', 'Whom to greet')
  .option('--loud', 'Shout', false)
  .option('--times <n>', 'How often', Number, 1)
  .action((name, { loud, times }) =>
    console.log(JSON.stringify({ text: (loud ? 'HELLO ' : 'Hello ') + name, times })),
  )
  .parseAsync()
