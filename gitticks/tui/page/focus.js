// Keys go to the terminal as soon as it is there, without a click on it first.
addEventListener("DOMContentLoaded", () => {
  const terminal = document.getElementById("terminal");
  const watching = new MutationObserver(() => {
    const input = terminal.querySelector("textarea");
    if (input) {
      watching.disconnect();
      input.focus();
    }
  });
  watching.observe(terminal, { childList: true, subtree: true });
});
