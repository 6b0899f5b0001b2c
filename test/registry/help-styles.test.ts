import { expect, test } from 'vitest'
import type { HelpDocument } from '../../src/registry/help/sections.ts'
import { readHelp } from '../../src/registry/help/read-help.ts'

/** One line for each option: names, value, and what else is known. */
function shown({ options }: HelpDocument): string[] {
  return options.map(
    ({
      short,
      long,
      takesValue,
      valueOptional,
      valueName,
      choices,
      default: byDefault,
      repeatable,
      required,
    }) =>
      [
        [...short, ...long].join(' '),
        takesValue || valueOptional ? `<${valueName ?? ''}>${valueOptional ? '?' : ''}` : '',
        choices.length > 0 ? `{${choices.join(',')}}` : '',
        byDefault === null ? '' : `=${byDefault}`,
        repeatable ? '*' : '',
        required ? '!' : '',
      ]
        .filter((part) => part !== '')
        .join(' '),
  )
}

const STYLES: {
  readonly [style: string]: {
    readonly text: string
    readonly options: readonly string[]
    readonly positionals?: readonly string[]
    readonly commands?: readonly string[]
  }
} = {
  gnu: {
    text: `Usage: ls [OPTION]... [FILE]...
List information about the FILEs.

  -a, --all                  do not ignore entries starting with .
      --block-size=SIZE      with -l, scale sizes by SIZE when printing them;
                               -h is like --human-readable
      --color[=WHEN]         color the output WHEN
  -1                         list one file per line
  -Z, --context=[USER@]HOST  a value with brackets in it
      --sort={size|time}     sort by that

The SIZE argument is an integer.
--not-an-option is only prose here.`,
    options: [
      '-a --all',
      '--block-size <SIZE>',
      '--color <WHEN>?',
      '-1',
      '-Z --context <[USER@]HOST>',
      '--sort <{size|time}> {size,time}',
    ],
    positionals: ['FILE*'],
  },
  git: {
    text: `usage: git remote [-v | --verbose]
   or: git remote add [-t <branch>] [--mirror=<fetch|push>] <name> <url>

    -v, --[no-]verbose    be verbose; must be placed before a subcommand
    --[no-]exec <cmd>     run it
    -t, --track[=(direct|inherit)]
                          set branch tracking configuration
    -L <range:file>       trace the evolution
    -NUM                  shortcut`,
    options: [
      '-v --verbose --no-verbose',
      '--no-exec',
      '--exec <cmd>',
      '-t --track <direct|inherit>? {direct,inherit}',
      '-L <range:file>',
    ],
    commands: ['add'],
  },
  'two names of one command': {
    text: `usage: git log [<options>] [<revision-range>] [[--] <path>...]
   or: git show [<options>] <object>...

    -q, --quiet           suppress diff output`,
    options: ['-q --quiet'],
    positionals: ['revision-range', 'path*', 'object*'],
  },
  argparse: {
    text: `usage: prog [-h] [-s SPACING] --level {debug,info} [--pair X Y] [--many FILE [FILE ...]] [-q | -v] name {add,remove} ...

positional arguments:
  name                  who
  {add,remove}          what to do
    add                 add one
    remove (rm)         remove one

options:
  -h, --help            show this help message and exit
  -s SPACING, --spacing SPACING
                        spacing between months (default: 6)
  --level {debug,info}  how much
  --pair X Y            two values
  --many FILE [FILE ...]
                        several
  -q                    quiet`,
    options: [
      '-h --help',
      '-s --spacing <SPACING> =6',
      '--level <{debug,info}> {debug,info} !',
      '--pair <X Y>',
      '--many <FILE [FILE ...]> *',
      '-q',
      '-v',
    ],
    positionals: ['name!'],
    commands: ['add', 'remove'],
  },
  click: {
    text: `Usage: flask [OPTIONS] COMMAND [ARGS]...

  A general utility script.

Options:
  -e, --env-file FILE         Load environment variables.
  --debug / --no-debug        Set debug mode.
  --size INTEGER RANGE        How many.  [default: 3; 1<=x<=9]
  --hash [md5|sha1]           Which.  [required]
  --help                      Show this message and exit.

Commands:
  routes  Show the routes for the app.
  run     Run a development server.`,
    options: [
      '-e --env-file <FILE>',
      '--debug --no-debug',
      '--size <INTEGER RANGE> =3; 1<=x<=9',
      '--hash <[md5|sha1]> {md5,sha1} !',
      '--help',
    ],
    commands: ['routes', 'run'],
  },
  typer: {
    text: ` Usage: main.py [OPTIONS] NAME

 Say hello.

╭─ Arguments ──────────────────────────────────────────────────────╮
│ *    name      TEXT  Who it is [default: None] [required]        │
╰──────────────────────────────────────────────────────────────────╯
╭─ Options ────────────────────────────────────────────────────────╮
│ *  --count    -c                 INTEGER  How often [required]   │
│    --formal       --no-formal             [default: no-formal]   │
│    --help                                 Show this message.     │
╰──────────────────────────────────────────────────────────────────╯
╭─ Commands ───────────────────────────────────────────────────────╮
│ create   Create it.                                              │
╰──────────────────────────────────────────────────────────────────╯`,
    options: ['-c --count <INTEGER> !', '--formal --no-formal =no-formal', '--help'],
    positionals: ['NAME!'],
    commands: ['create'],
  },
  cobra: {
    text: `Run a command

Usage:
  podman [flags]
  podman [command]

Available Commands:
  attach      Attach to a running container
  build, bld  Build an image

Flags:
      --annotation strings   Add annotations (default [])
  -t, --timeout duration     how long (default 10s)
      --tls                  use it (default true)
  -h, --help                 help for run`,
    options: [
      '--annotation <strings> =[] *',
      '-t --timeout <duration> =10s',
      '--tls =true',
      '-h --help',
    ],
    commands: ['attach', 'build'],
  },
  clap: {
    text: `Usage: tool [OPTIONS] <PATTERN> [PATH]... [COMMAND]

Commands:
  build  Compile [aliases: b]
  help   Print this message

Arguments:
  <PATTERN>  What to look for
  [PATH]...  Where

Options:
  -A, --after-context <NUM>
          Show NUM lines after each match.

          This overrides the
          --context flag.

  -g, --glob <GLOB>...  Include
      --color <WHEN>    When [default: auto] [possible values: auto, never]
  -v, --verbose...      More output`,
    options: [
      '-A --after-context <NUM>',
      '-g --glob <GLOB> *',
      '--color <WHEN> {auto,never} =auto',
      '-v --verbose *',
    ],
    positionals: ['PATTERN!', 'PATH*'],
    commands: ['build', 'help'],
  },
  yargs: {
    text: `server.js [command]

Commands:
  server.js serve  start  [aliases: s]

Options:
      --help     Show help                                             [boolean]
  -p, --port     port to bind on                    [number] [default: 3000]
  -f, --file     files to read                           [array] [required]
  -l, --level    how much           [string] [choices: "low", "high"]
  -v, --verbose  more                                                   [count]`,
    options: [
      '--help',
      '-p --port <> =3000',
      '-f --file <> * !',
      '-l --level <> {low,high}',
      '-v --verbose *',
    ],
    commands: ['serve'],
  },
  commander: {
    text: `Usage: app [options] <dir> [others...]

Options:
  -V, --version          output the version number
  -p, --port <number>    port (default: "80")
  -c, --cheese [type]    optional
  --no-sauce             without
  -s, --sizes <n...>     several
  -d, --drink <size>     size (choices: "small", "large")

Commands:
  install|i [options] <name>  install one`,
    options: [
      '-V --version',
      '-p --port <number> =80',
      '-c --cheese <type>?',
      '--no-sauce',
      '-s --sizes <n> *',
      '-d --drink <size> {small,large}',
    ],
    positionals: ['dir!', 'others*'],
    commands: ['install'],
  },
  bsd: {
    text: `usage: ls [-ABCFG1] [-D format] [ -w width ] [-L [bind:]port] file ... [target]
       ls --libxo [file ...]`,
    options: [
      '-A',
      '-B',
      '-C',
      '-F',
      '-G',
      '-1',
      '-D <format>',
      '-w <width>',
      '-L <[bind:]port>',
      '--libxo',
    ],
    positionals: ['file*', 'target'],
  },
  'single dash': {
    text: `Usage: x509 [options]

Valid options are:
 -help                 Display this summary
 -in infile            Certificate input
 -inform format        CSR input format (DER or PEM)
 -*                    Any supported digest
 -CAkeyform PEM|DER|ENGINE The key format
 -b:v bitrate          video`,
    options: [
      '-help',
      '-in <infile>',
      '-inform <format>',
      '-*',
      '-CAkeyform <PEM|DER|ENGINE>',
      '-b:v <bitrate>',
    ],
  },
  'flags in rows': {
    text: `Usage: find [path...] [expression]
Tests:
      -amin N -anewer FILE -empty -perm [-/]MODE
      -wholename PATTERN -size N[bcwkMG] -true
Actions:
      -exec COMMAND ; -execdir COMMAND {} + -ls`,
    options: [
      '-amin <N>',
      '-anewer <FILE>',
      '-empty',
      '-perm <[-/]MODE>',
      '-wholename <PATTERN>',
      '-size <N[bcwkMG]>',
      '-true',
      '-exec <COMMAND ;>',
      '-execdir <COMMAND {} +>',
      '-ls',
    ],
    positionals: ['path*', 'expression'],
  },
  npm: {
    text: `Install a package

Usage:
npm install [<package-spec> ...]

Options:
[-E|--save-exact] [-g|--global]
[--omit <dev|peer> [--omit <dev|peer> ...]]
[--no-audit]

aliases: add, i`,
    options: ['-E', '--save-exact', '-g --global', '--omit <dev|peer> {dev,peer} *', '--no-audit'],
    positionals: ['package-spec*'],
  },
  docopt: {
    text: `Naval Fate.

Usage:
  naval_fate ship new <name>...
  naval_fate mine (set|remove) <x> <y> [--moored | --drifting]
  naval_fate --version

Options:
  -h --help     Show this screen.
  --speed=<kn>  Speed in knots [default: 10].`,
    options: ['-h --help', '--speed <kn> =10', '--version'],
    commands: ['ship', 'mine'],
  },
  busybox: {
    text: `BusyBox v1.35.0 multi-call binary.

Usage: ls [-1Aw] [-T N] [FILE]...

List directory contents

\t-1\tOne column output
\t-A\tLike -a, but exclude . and ..
\t-w N\tFormat N columns wide
\t--color[={always,never,auto}]`,
    options: ['-1', '-A', '-w <N>', '--color <{always,never,auto}>? {always,never,auto}', '-T <N>'],
    positionals: ['FILE*'],
  },
  manual: {
    text: `N\bNA\bAM\bME\bE
       tool - does things

S\bSY\bYN\bNO\bOP\bPS\bSI\bIS\bS
       t\bto\boo\bol\bl [-f _\bf_\bi_\bl_\be]

O\bOP\bPT\bTI\bIO\bON\bNS\bS
       -\b-f\bf _\bf_\bi_\bl_\be
       -\b--\b-f\bfi\bil\ble\be=_\bf_\bi_\bl_\be
              Read it. See also
              -\b-x\bx for more.

       -\b-x\bx     Do it.`,
    options: ['-f --file <file>', '-x'],
  },
  'two columns': {
    text: `Usage: zip [-options] zipfile
  -f   freshen: only changed files  -u   update: only changed or new files
  -d   delete entries in zipfile    -m   move into zipfile (delete OS files)`,
    options: ['-f', '-u', '-d', '-m', '-options'],
  },
  'one blank': {
    text: `Options:
 -h show this help
 -f <file> read from the file
 -n FILE the FILE to write
 -q is for quiet ones`,
    options: ['-h', '-f <file>', '-n <FILE>', '-q'],
  },
  coloured: {
    text: '\u001b[1;4mUsage:\u001b[0m tool [OPTIONS]\r\n\r\n\u001b[1mOptions:\u001b[0m\r\n  \u001b[32m-x\u001b[0m, \u001b]8;;http://a\u0007--xx\u001b]8;;\u0007 <N>   how many\r\n',
    options: ['-x --xx <N>'],
  },
}

for (const [style, { text, options, positionals = [], commands = [] }] of Object.entries(STYLES)) {
  test(`[6.help-styles] ${style}`, () => {
    const document = readHelp(text)
    expect(shown(document)).toEqual(options)
    if (positionals.length > 0)
      expect(
        document.positionals.map(
          ({ name, required, repeatable }) =>
            `${name}${required ? '!' : ''}${repeatable ? '*' : ''}`,
        ),
      ).toEqual(positionals)
    expect(document.commands.map(({ name }) => name)).toEqual(commands)
  })
}

test('[6.help-styles] every field is there, in the form that is documented', () => {
  expect(
    readHelp('Usage: x [-o FILE]\n\nDoes it.\n\n  -o FILE  where\n\nCommands:\n  go, g  start'),
  ).toEqual({
    usage: 'x [-o FILE]',
    description: 'Does it.',
    options: [
      {
        long: [],
        short: ['-o'],
        takesValue: true,
        valueName: 'FILE',
        choices: [],
        default: null,
        repeatable: false,
        required: false,
        description: 'where',
      },
    ],
    positionals: [],
    commands: [{ name: 'go', aliases: ['g'], description: 'start' }],
  })
})

test('[6.help-styles] only the last letter of a cluster takes the value', () => {
  const { options } = readHelp('usage: prog [-xzf FILE] [-v]')
  expect(options.map(({ short, valueName }) => [...short, valueName])).toEqual([
    ['-x', null],
    ['-z', null],
    ['-f', 'FILE'],
    ['-v', null],
  ])
})
