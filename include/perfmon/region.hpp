// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Regions in C++ (perfmon/region.h has the rules):
//
//	void assemble()
//	{
//		PERFMON_SCOPE("assemble");			// to the end of the block
//	}
//
//	static perfmon::region exchange("exchange");		// for several places
//
//	void send()
//	{
//		perfmon::scope in(exchange);
//	}
//
//	void read(const std::string &file)
//	{
//		perfmon::named_region reading(file);		// a name known at run time
//		perfmon::scope in(reading);
//	}
//
// A scope ends its visit however the block is left. It belongs to the thread that made it. A
// visit of the first two costs what PERFMON_REGION_BEGIN and END cost, one of the third what
// perfmon_region_begin_name() and its end do. Nothing here throws, but the constructor of
// named_region, which copies the name. With -DPERFMON_DISABLE regions are compiled to nothing.
#ifndef PERFMON_REGION_HPP
#define PERFMON_REGION_HPP

#include <cstddef>
#include <perfmon/error.hpp>
#include <perfmon/region.h>
#include <string>
#include <type_traits>
#include <utility>

// A visit of the region NAME, a string literal, from here to the end of the block.
#define PERFMON_SCOPE(name) PERFMON_REGION_SCOPE(name)

// The library's: a call for the object REGION. Files of a program can differ in
// PERFMON_DISABLE and PERFMON_QUIET, so whatever depends on these is inlined always.
#if defined(PERFMON_DISABLE) || defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define PERFMON_CALL_(function, region) ((void)(region))
#else
#define PERFMON_CALL_(function, region) PERFMON_REGION_CALL_(function, region)
#endif
#define PERFMON_INLINE_ inline __attribute__((always_inline))
// Checks when the program is compiled that a name is a constant, where the language can.
#if defined(__cpp_consteval) && __cpp_consteval >= 201811L
#define PERFMON_CONSTANT_ consteval
#else
#define PERFMON_CONSTANT_ constexpr
#endif

namespace perfmon
{

// A region with a constant name. Make it static or global: it is initialised when the program
// is compiled, threads may share it, and it must outlive its visits. Objects of equal names are
// the same region. The name is a string literal of 1 to 1000 bytes; all others do not compile.
class region
{
      public:
	template <std::size_t size>
	PERFMON_CONSTANT_ explicit region(const char (&name)[size]) noexcept
	    : region_{PERFMON_REGION_KEY_, name}
	{
		static_assert(size > 1, "the name of a region is empty");
		static_assert(size <= 1001,
			      "the name of a region has more than 1000 bytes");
	}
	template <std::size_t size> explicit region(char (&)[size])
	{
		static_assert(size == 0,
			      "perfmon::named_region takes names known at run time");
	}
	template <typename text,
		  typename std::enable_if<!std::is_array<text>::value &&
						  !std::is_same<text, region>::value,
					  int>::type = 0>
	explicit region(const text &)
	{
		static_assert(sizeof(text) == 0,
			      "perfmon::named_region takes names known at run time");
	}
	region(const region &) = delete;
	region &operator=(const region &) = delete;

	// A visit that begins and ends in different blocks or functions, on one thread.
	PERFMON_INLINE_ void begin() noexcept
	{
		PERFMON_CALL_(begin, region_);
	}
	PERFMON_INLINE_ void end() noexcept
	{
		PERFMON_CALL_(end, region_);
	}

      private:
	perfmon_region region_;
};

// A region with a name that is known only at run time, such as a file's. It has a copy of the
// name, and stays where it is while a visit is open. Each visit looks the name up.
class named_region
{
      public:
	explicit named_region(std::string name) : name_(std::move(name))
	{
	}
	PERFMON_INLINE_ void begin() const noexcept
	{
		perfmon_region_begin_name(name_.c_str());
	}
	PERFMON_INLINE_ void end() const noexcept
	{
		perfmon_region_end_name(name_.c_str());
	}
	const std::string &name() const noexcept
	{
		return name_;
	}

      private:
	std::string name_;
};

// A visit from the construction of this object to its end.
class PERFMON_NODISCARD_ scope
{
      public:
	PERFMON_NODISCARD_ PERFMON_INLINE_ explicit scope(region &of) noexcept
	    : region_(&of), named_(nullptr)
	{
		of.begin();
	}
	PERFMON_NODISCARD_ PERFMON_INLINE_ explicit scope(const named_region &of) noexcept
	    : region_(nullptr), named_(&of)
	{
		of.begin();
	}
	// A temporary would be gone before the visit ends.
	explicit scope(const named_region &&) = delete;
	PERFMON_INLINE_ ~scope()
	{
		if (region_)
			region_->end();
		else
			named_->end();
	}
	scope(const scope &) = delete;
	scope &operator=(const scope &) = delete;

      private:
	region *region_;
	const named_region *named_;
};

} // namespace perfmon

#endif
