// Applies the chosen theme before anything is drawn. A script of its own, since none may stand in the page.
try {
  const theme = localStorage.getItem("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Without storage the system's theme holds.
}
