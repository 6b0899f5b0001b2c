/** The promises of section 10 of the specification about terminals. */
export const VIEWS_TERMINAL: { readonly [name: string]: string } = {
  'tree-live':
    'toolable run, resume, watch, workflow run and agent draw what goes on as a live tree on stderr where a person looks on, and leave its final state behind.',
  'tree-line':
    'A run and a step are a line each: symbol, name, last message, time at the right; a bar is drawn only for a percentage that the tool has told.',
  'tree-silence':
    'A run that has said nothing for two seconds says how long ago it was heard, and as a warning when half of the silence that it may keep is over.',
  'tree-steps': 'Steps stand below what they are part of; what is done is one line.',
  'tree-failure':
    'A step that failed is open: the last 20 lines of its log, and the path of the whole of it.',
  'tree-waits':
    'A step that waits shows its question, and where nobody here can answer it the command that does.',
  'tree-asks':
    'A question is asked below the tree, which is held still; then the tree goes on in its place. Of several questions one is asked after the other.',
  'tree-several': 'Several watched runs are several trees.',
  'tree-log': 'What a tool logs scrolls by above the tree.',
  'tree-fits':
    'A tree is never taller or wider than its window: the least of it is folded away and counted, and text is cut by the width that it is shown with.',
  'tree-resize': 'A tree survives a window that changes its size.',
  'tree-paints-little':
    'A tree is drawn at most ten times a second, and only what changed is written.',
  'tree-cursor': 'The cursor is given back on every exit.',
  'tree-stop':
    'A run that is stopped by Ctrl-Z gives the terminal back, and goes on below what was written there.',
  'tree-clean': 'Nothing that a tool says steers the terminal.',
  'tree-colours':
    'NO_COLOR, --no-color and TERM=dumb take colours away, FORCE_COLOR brings them; a colour never stands without a symbol and a word.',
  'tree-ascii': 'A terminal that has no characters beyond ASCII gets none.',
  'tree-lazy': 'What draws trees is loaded only where one is drawn.',
  'tree-stray':
    'What a tool that runs in this process prints stands above the live view, without control sequences, and in the log of its run, like the stderr of a program.',
  'progress-flag':
    '--progress auto|tty|plain|jsonl|none decides what is shown on stderr, and never changes what a program reads from stdout; auto is a tree where a person looks on, and what it was before anywhere else.',
  'last-line':
    'A run ends with a line that says what to do next; after a failure error, hint and log stand before it.',
  tables:
    'Tables have no borders, the id first and figures at the right; they leave columns out before they cut what names a thing, and never wrap.',
}
